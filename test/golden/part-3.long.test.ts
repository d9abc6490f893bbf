import { recordPart } from "./scenes.ts";

recordPart(3);
