import { ApiError } from '@market/kernel/api-error'
import type { RequirementField } from '@market/offers/listings'

const isFilled = (answer: unknown): boolean => answer !== undefined && answer !== null && answer !== ''

/** The error message for an answer, by type of field; undefined when it is valid. */
const CHECKS: Readonly<
  Record<RequirementField['type'], (answer: unknown, field: RequirementField) => string | undefined>
> = {
  text: (answer) =>
    typeof answer === 'string' && !/\n/.test(answer) ? undefined : 'must be a single line of text',
  textarea: (answer) => (typeof answer === 'string' ? undefined : 'must be text'),
  url: (answer) =>
    typeof answer === 'string' && /^https?:\/\//i.test(answer) && URL.canParse(answer)
      ? undefined
      : 'must be an http or https URL',
  number: (answer) =>
    Number.isFinite(typeof answer === 'string' && answer.trim() !== '' ? Number(answer) : answer)
      ? undefined
      : 'must be a number',
  select: (answer, { options = [] }) =>
    options.includes(answer as string) ? undefined : `must be one of: ${options.join(', ')}`,
}

/** Answers that the listing does not ask for are passed on to the agent, within these limits. */
const MAX_FURTHER = 20
const MAX_FURTHER_LENGTH = 500

const lengthOf = (answer: unknown): number =>
  [...(typeof answer === 'string' ? answer : JSON.stringify(answer))].length

/**
 * Checks the buyer's answers against the requirement fields of the listing. A purchase by x402 is complete with its
 * brief, so it may leave required answers out.
 */
export function checkAnswers(
  fields: readonly RequirementField[],
  answers: Readonly<Record<string, unknown>>,
  { requiresAll }: { readonly requiresAll: boolean },
): void {
  const labels = new Set(fields.map(({ label }) => label))
  const further = Object.keys(answers).filter((label) => !labels.has(label))
  const details = [
    ...further.flatMap((label, at) => {
      // fix: further-answers
      if (at >= MAX_FURTHER)
        return [{ label, message: `is one of more than ${MAX_FURTHER} answers that nobody asked for` }]
      const tooLong = lengthOf(answers[label]) > MAX_FURTHER_LENGTH
      return tooLong ? [{ label, message: `must be at most ${MAX_FURTHER_LENGTH} characters` }] : []
    }),
    ...fields.flatMap((field) => {
      const answer = answers[field.label]
      if (!isFilled(answer))
        // fix: answers-optional
        return field.required && requiresAll ? [{ label: field.label, message: 'is required' }] : []
      const message = CHECKS[field.type](answer, field)
      return message === undefined ? [] : [{ label: field.label, message }]
    }),
  ].map(({ label, message }) => ({ path: `requirement_answers.${label}`, message }))
  if (details.length > 0)
    throw new ApiError(
      'invalid',
      'requirement_answers does not match the requirement fields of the service. See details.',
      { details },
    )
}
