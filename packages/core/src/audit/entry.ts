import { createHash } from 'node:crypto'

export interface Entry {
  readonly at: Date
  readonly actor: string
  readonly credential: Readonly<Record<string, unknown>> | null
  readonly act: string
  readonly subject: string
  readonly requestId: string
  readonly details: Readonly<Record<string, unknown>>
}

/** Sorted keys, so that the text does not depend on the key order of jsonb. */
function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join()}]`
  if (value !== null && typeof value === 'object') {
    const keys = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))
    return `{${keys.map(([key, inner]) => `${JSON.stringify(key)}:${canonical(inner)}`).join()}}`
  }
  return JSON.stringify(value) ?? 'null'
}

/** Each seal covers the previous one, so that changed, moved and deleted rows are detected. */
export function sealOf<T>(before: Buffer, seq: bigint, entry: Entry, secret: (text: string) => T): T {
  const text = canonical([
    seq.toString(),
    entry.at.toISOString(),
    entry.actor,
    entry.credential,
    entry.act,
    entry.subject,
    entry.requestId,
    // As Postgres returns it: without values that JSON cannot represent.
    JSON.parse(JSON.stringify(entry.details)),
  ])
  const hash = createHash('sha256').update(before).update(text).digest('hex')
  return secret(`audit:${hash}`)
}
