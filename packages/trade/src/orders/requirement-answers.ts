import { ApiError } from '@market/kernel/api-error'
import type { RequirementField } from '../listings/index.ts'

const isFilled = (answer: unknown): boolean => answer !== undefined && answer !== null && answer !== ''

/** What an answer must be for each kind of field; undefined when it is fine. */
const FAULTS: Readonly<
  Record<RequirementField['type'], (answer: unknown, field: RequirementField) => string | undefined>
> = {
  text: (answer) =>
    typeof answer === 'string' && !/\n/.test(answer) ? undefined : 'must be one line of text',
  textarea: (answer) => (typeof answer === 'string' ? undefined : 'must be text'),
  url: (answer) =>
    typeof answer === 'string' && /^https?:\/\//i.test(answer) && URL.canParse(answer)
      ? undefined
      : 'must be an http address',
  number: (answer) =>
    Number.isFinite(typeof answer === 'string' && answer.trim() !== '' ? Number(answer) : answer)
      ? undefined
      : 'must be a number',
  select: (answer, { options = [] }) =>
    options.includes(answer as string) ? undefined : `must be one of: ${options.join(', ')}`,
}

/** Checks a buyer's answers against what the listing asks; each fault names its field. */
export function checkAnswers(
  fields: readonly RequirementField[],
  answers: Readonly<Record<string, unknown>>,
): void {
  const labels = new Set(fields.map(({ label }) => label))
  const unknown = Object.keys(answers).filter((label) => !labels.has(label))
  const details = [
    ...unknown.map((label) => ({ label, message: 'is not asked for' })),
    ...fields.flatMap((field) => {
      const answer = answers[field.label]
      if (!isFilled(answer)) return field.required ? [{ label: field.label, message: 'is required' }] : []
      const message = FAULTS[field.type](answer, field)
      return message === undefined ? [] : [{ label: field.label, message }]
    }),
  ].map(({ label, message }) => ({ path: `requirement_answers.${label}`, message }))
  if (details.length > 0)
    throw new ApiError('invalid', 'The answers do not fit what this service asks for', { details })
}
