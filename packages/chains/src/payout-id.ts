/** What a payout of this application is called, as its payment carries it over the chain. */
const PAYOUT_ID = /^pay_[0-9a-z]{32}$/

/** The text when it is a payout's id, and nothing but that. */
export const asPayoutId = (text: string): string | null => (PAYOUT_ID.test(text) ? text : null)
