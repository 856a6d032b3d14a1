/** Longer data that a payer attached to a transfer is ignored. */
export const MAX_ATTACHED_BYTES = 256

const PAYOUT_ID = /^pay_[0-9a-z]{32}$/

/** The text when it is a payout id, otherwise null. */
export const parsePayoutId = (text: string): string | null => (PAYOUT_ID.test(text) ? text : null)
