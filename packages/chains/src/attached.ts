/** What a payer writes beside a payment is a reference, not a book: longer texts are left on the chain. In bytes. */
export const LONGEST_ATTACHED = 256
