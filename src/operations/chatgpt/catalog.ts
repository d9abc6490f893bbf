/** The pair of tools that ChatGPT expects of a server; `search` takes the place of the tool with that name. */

import type { Operation } from "../operation.ts";
import { chatgptFetch } from "./chatgpt-fetch.ts";
import { chatgptSearch } from "./chatgpt-search.ts";

export const CHATGPT_OPERATIONS: readonly Operation[] = [chatgptSearch, chatgptFetch];
