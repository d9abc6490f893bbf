/** What an experiment of the lab is: a promise that is tried hard to break, and the figures of the attempt. */

export interface Finding {
  /** What is promised, in a few words. */
  promise: string;
  /** What must be measured for the promise to be kept. */
  target: string;
  measured: string;
  met: boolean;
  /** Why a target was missed, or what a reader must know to read the figure. */
  note?: string | undefined;
}

export interface Experiment {
  name: string;
  /** What is done, in one or two sentences. */
  about: string;
  /** About how long on two cores, for whoever starts it. */
  minutes: number;
  /** The ids of docs/requirements.md and SECURITY.md that it measures, for the document. */
  covers: string;
  run(setting: LabSetting): Promise<Finding[]>;
}

export interface LabSetting {
  /** 1 is the whole experiment; less is a shorter one, and the document says so. */
  scale: number;
  seed: number;
  /** What happens, for whoever watches. */
  say(text: string): void;
}

/** A whole number of repetitions at this scale, at least one. */
export const scaled = ({ scale }: LabSetting, full: number): number => Math.max(1, Math.round(full * scale));
