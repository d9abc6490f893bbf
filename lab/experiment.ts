/** The type of a lab experiment: an attempt to break a promise, and the figures of the attempt. */

export interface Finding {
  /** The promise in a few words. */
  promise: string;
  /** The figure that keeps the promise. */
  target: string;
  measured: string;
  met: boolean;
  /** Why a target was missed, or what is needed to interpret the figure. */
  note?: string | undefined;
}

export interface Experiment {
  name: string;
  /** The method in one or two sentences. */
  about: string;
  /** Approximate duration on two cores. */
  minutes: number;
  /** The ids of docs/engineering/requirements.md and SECURITY.md that it measures, for the document. */
  covers: string;
  run(setting: LabSetting): Promise<Finding[]>;
}

export interface LabSetting {
  /** 1 is the full experiment; less is a shorter one, which the document states. */
  scale: number;
  seed: number;
  /** The parts to repeat, of an experiment that has parts; undefined for all of them. */
  only?: readonly string[] | undefined;
  /** Prints progress. */
  print(text: string): void;
}

/** The number of repetitions at this scale, at least one. */
export const scaled = ({ scale }: LabSetting, full: number): number => Math.max(1, Math.round(full * scale));
