/** Consent on the page: a question as the page gets it, and the subject that the page returns with a yes. */

import { hashOfInput, type Operation, type Question } from "../operations/operation.ts";
import { type Subject, subjectSchema } from "../operations/question/subject.ts";

/**
 * What the user must confirm. With a yes, the request has the subject as `agreed`. Without it, or if it no longer fits,
 * the error `CONFIRMATION_NEEDED` has the question of the moment in its details.
 */
export interface ConsentQuestion {
  text: string;
  subject: Subject;
  /** The run whose report answers the question of a start already. */
  answered_by?: string | undefined;
}

export const consentQuestion = (question: Question | undefined): ConsentQuestion | undefined =>
  question && { text: question.because, subject: question.subject, answered_by: question.run?.task_id };

interface Submitted {
  operation: Operation;
  input: unknown;
  /** The subject of the question that the page showed; anything else is no consent. */
  agreed: unknown;
}

/** A form is sent by the user who filled it in, so that its own fields need no comparison with those of the question. */
export function consentTo({ operation, input, agreed }: Submitted): Subject | undefined {
  const shown = subjectSchema.safeParse(agreed);
  const parsed = operation.input.safeParse(input);
  if (!shown.success || !parsed.success) return undefined;
  return { ...shown.data, input: hashOfInput(parsed.data) };
}
