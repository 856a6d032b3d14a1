import { createHash } from 'node:crypto'

/** The same words in another spelling are the same words. */
const plain = (text: string): string => text.normalize('NFC').trim()

/** What is asked for, whichever door it came through and however its fields were ordered. */
export function fingerprintOf(
  subject: string,
  brief: string,
  answers: Readonly<Record<string, unknown>>,
): Buffer {
  const sorted = Object.entries(answers).toSorted(([a], [b]) => (a < b ? -1 : 1))
  return createHash('sha256')
    .update(JSON.stringify([subject, plain(brief), sorted]))
    .digest()
}
