import type { SignedPayment } from '@market/sdk/wallets'
import type { NetworkName } from '../names.ts'
import { readText, storeText } from '../session/stored.ts'

export interface SentTransfer {
  readonly network: NetworkName
  readonly hash: string
}

/**
 * A payment that this browser made for something: a transfer, or a payment that a wallet signed. It is stored before the API is told,
 * so that a closed page loses nothing.
 */
export type SentPayment = SentTransfer | { readonly network: NetworkName; readonly signed: SignedPayment }

const keyOf = (payeeId: string): string => `market.sent.${payeeId}`

export function readSent(payeeId: string): SentPayment | undefined {
  try {
    return JSON.parse(readText(keyOf(payeeId)) ?? 'null') ?? undefined
  } catch {
    return undefined
  }
}

export const storeSent = (payeeId: string, sent: SentPayment): void =>
  storeText(keyOf(payeeId), JSON.stringify(sent))

export const forgetSent = (payeeId: string): void => storeText(keyOf(payeeId), null)
