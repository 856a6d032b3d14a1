import type { Operations } from '@market/sdk'

type Service = Operations['getService']['data']
type Upload = Pick<Operations['uploadFile']['data'], 'id' | 'media_type'>

/** The chosen files. A browser sends an empty one for a field without a choice. */
export const filesOf = (form: FormData): readonly File[] =>
  form.getAll('files').filter((file): file is File => file instanceof File && file.size > 0)

/** What was entered, as `createOrder` takes it. */
export function fieldsOf(
  { requirement_fields: questions }: Pick<Service, 'requirement_fields'>,
  form: FormData,
  files: readonly Upload[],
): Readonly<Record<string, unknown>> {
  const textOf = (name: string) => String(form.get(name) ?? '').trim()
  const answers = questions.flatMap(({ label, type }, n): [string, string | number][] => {
    const text = textOf(`answer-${n}`)
    return text === '' ? [] : [[label, type === 'number' ? Number(text) : text]]
  })
  const isPicture = ({ media_type }: Upload) => media_type.startsWith('image/')
  const brief = textOf('brief')
  return {
    ...(brief !== '' && { brief }),
    requirement_answers: Object.fromEntries(answers),
    reference_images: files.filter(isPicture).map(({ id }) => id),
    reference_urls: files.filter((file) => !isPicture(file)).map(({ id }) => id),
    private: form.get('private') === 'yes',
  }
}
