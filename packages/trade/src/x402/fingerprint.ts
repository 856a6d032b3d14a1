import { createHash } from 'node:crypto'
import type { OrderExtras } from './order-extras.ts'

/** The same words in another spelling are the same words. */
const plain = (text: string): string => text.normalize('NFC').trim()

/** What is asked for, whichever door it came through and however its fields were ordered. */
export function fingerprintOf(
  subject: string,
  brief: string,
  answers: Readonly<Record<string, unknown>>,
  extras?: OrderExtras,
): Buffer {
  const sorted = Object.entries(answers).toSorted(([a], [b]) => (a < b ? -1 : 1))
  const said = extras && [extras.referenceUrls, extras.referenceImages, extras.isPrivate]
  // Without extras nothing stands for them: what was bought before they were read keeps its fingerprint.
  const words = [subject, plain(brief), sorted, ...(said === undefined ? [] : [said])]
  return createHash('sha256').update(JSON.stringify(words)).digest()
}
