import type { Operations } from '@market/sdk'

type Question = Operations['getService']['data']['requirement_fields'][number]

export const MAX_PROMPT = 4_000

/** A prompt as the agent gets it: what was answered for this one, then the text. */
export function promptOf(questions: readonly Question[], form: FormData): string {
  const textOf = (name: string) => String(form.get(name) ?? '').trim()
  const answers = questions.flatMap(({ label }, n) => {
    const answer = textOf(`answer-${n}`)
    return answer === '' ? [] : [`${label}: ${answer}`]
  })
  return [...answers, ...(answers.length > 0 ? [''] : []), textOf('prompt')].join('\n').trim()
}
