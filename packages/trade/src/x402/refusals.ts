import { Refusal } from '@market/kernel/refusal'

/** Says nothing of whose it is: a transaction is public, what was bought with it is not. */
export const usedAlready = (): Refusal =>
  new Refusal('conflict', 'This payment was already used for something else. Each payment buys one thing.', {
    code: 'payment_already_used',
  })

/** Only who has proven to have made the payment is told. */
export const contested = (): Refusal =>
  new Refusal(
    'conflict',
    'Somebody hired with your payment and was delivered. Nothing leaves for it: an operator decides whose it is, and if it is yours it comes back to your wallet.',
    { code: 'payment_contested' },
  )

export const inProgress = (): Refusal =>
  new Refusal('conflict', 'This payment is being seen through by another request. Ask again in a moment.', {
    code: 'payment_in_progress',
    retryAfterSeconds: 2,
  })
