import { Refusal } from '@market/kernel/refusal'

export const malformedSignature = (expected: string): Refusal => {
  const message = `wallet_sig is not a signature: ${expected}`
  return new Refusal('invalid', message, { details: [{ path: 'wallet_sig', message }] })
}

export const badSignature = (): Refusal =>
  new Refusal(
    'unauthenticated',
    'This signature is not by this wallet over the text of this request: sign the exact text again and send it with the same wallet_sig_ts',
    { code: 'bad_signature' },
  )
