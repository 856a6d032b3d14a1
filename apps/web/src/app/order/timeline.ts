import type { Message, OrderPage } from './order-page.ts'

type Step = OrderPage['steps'][number]
type Delivery = OrderPage['deliveries'][number]

/** What happened to an order: a step of it, a delivery with its files, or a message. */
export type Entry =
  | { readonly kind: 'step'; readonly at: string; readonly step: Step }
  | {
      readonly kind: 'delivery'
      readonly at: string
      /** Undefined for an old one that the page no longer has. */
      readonly delivery: Delivery | undefined
      readonly files: number
      readonly isNewest: boolean
    }
  | { readonly kind: 'message'; readonly at: string; readonly message: Message }

/** These say the same as the step of the delivery or of the money that they led to. */
const SHOWN_OTHERWISE: readonly string[] = ['deliver', 'finish', 'pay']

/** One list of states, money, files and messages, the newest first. */
export function timelineOf(page: OrderPage, messages: readonly Message[]): readonly Entry[] {
  const hasPayment = page.steps.some(({ kind }) => kind === 'payment')
  const newest = page.steps.findLast(({ kind }) => kind === 'delivery')
  const entries = page.steps.flatMap((step): Entry[] => {
    const { at } = step
    if (step.kind === 'delivery')
      return [
        {
          ...{ kind: 'delivery', at, files: step.files ?? 0, isNewest: step === newest },
          delivery: page.deliveries.find((one) => one.at === at),
        },
      ]
    const isShownOtherwise =
      step.kind === 'status' &&
      SHOWN_OTHERWISE.includes(step.action ?? '') &&
      (step.action !== 'pay' || hasPayment)
    return isShownOtherwise ? [] : [{ kind: 'step', at, step }]
  })
  const written = messages.map((message): Entry => ({ kind: 'message', at: message.created_at, message }))
  // A message at the time of a step follows it.
  return [...entries, ...written].toSorted((one, other) => one.at.localeCompare(other.at)).toReversed()
}
