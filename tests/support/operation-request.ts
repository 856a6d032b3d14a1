import { hasBody, type Operation, pathKeysOf } from '@market/contract/define'

const hexOf = (bytes: Buffer): string => bytes.toString('hex').replace(/../g, '%$&')

/** The bytes of half a surrogate pair, which `encodeURIComponent` rejects. */
const loneSurrogate = (code: number): Buffer =>
  Buffer.of(0xe0 | (code >> 12), 0x80 | ((code >> 6) & 0x3f), 0x80 | (code & 0x3f))

/** A text in percent encoding, lone surrogates too. */
export const percentEncoded = (text: string): string =>
  text
    .split(/(\p{Surrogate})/u)
    .map((part, at) => (at % 2 === 1 ? hexOf(loneSurrogate(part.charCodeAt(0))) : encodeURIComponent(part)))
    .join('')
    .replace(/[.!~*'()]/g, (character) => hexOf(Buffer.from(character)))

const inUrl = (value: unknown): string =>
  percentEncoded(typeof value === 'string' ? value : (JSON.stringify(value) ?? ''))

/** A form as browsers send it, with one text file. */
export function formOf(
  content: string | Uint8Array<ArrayBuffer>,
  name = 'notes.txt',
  field = 'file',
): FormData {
  const form = new FormData()
  form.append(field, new Blob([content]), name)
  return form
}

/** Lays a flat input out over path, query and body. */
export function requestOf(operation: Operation, input: Readonly<Record<string, unknown>>) {
  const keys = pathKeysOf(operation)
  const path = operation.path.replace(/\{(\w+)\}/g, (_, key: string) => inUrl(input[key]))
  const rest = Object.entries(input).filter(([key, value]) => !keys.includes(key) && value !== undefined)
  if (operation.file) return { method: operation.method, path, body: formOf('a file') }
  if (hasBody(operation)) return { method: operation.method, path, body: Object.fromEntries(rest) }
  const query = rest.map(([key, value]) => `${percentEncoded(key)}=${inUrl(value)}`).join('&')
  return { method: operation.method, path: query === '' ? path : `${path}?${query}` }
}
