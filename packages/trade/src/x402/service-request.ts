import { createHash } from 'node:crypto'
import type { Buyer } from '../orders/index.ts'

/** Fields that only `POST /api/orders` has. */
export interface OrderExtras {
  readonly referenceUrls: readonly string[]
  readonly referenceImages: readonly string[]
  readonly isPrivate: boolean
}

/** What the buyer of a service wants; stored with the payment. */
export interface ServiceRequest extends Partial<OrderExtras> {
  readonly brief: string
  /** Who the order is for, when the request has a credential beside its payment. */
  readonly buyer?: Buyer | undefined
  readonly requirementAnswers: Readonly<Record<string, unknown>>
}

/** Undefined when all are empty: such a request equals one of a route without these fields. */
export const nonEmptyExtras = (extras: OrderExtras | undefined): OrderExtras | undefined =>
  extras && (extras.referenceUrls.length > 0 || extras.referenceImages.length > 0 || extras.isPrivate)
    ? extras
    : undefined

const normalized = (text: string): string => text.normalize('NFC').trim()

/** Identifies a request by its content, on any route and in any order of fields. */
export function fingerprintOf(
  subject: string,
  brief: string,
  answers: Readonly<Record<string, unknown>>,
  extras?: OrderExtras,
): Buffer {
  const sorted = Object.entries(answers).toSorted(([a], [b]) => (a < b ? -1 : 1))
  // Without extras nothing is appended, so that older fingerprints stay valid.
  const appended = extras ? [[extras.referenceUrls, extras.referenceImages, extras.isPrivate]] : []
  const content = [subject, normalized(brief), sorted, ...appended]
  return createHash('sha256').update(JSON.stringify(content)).digest()
}
