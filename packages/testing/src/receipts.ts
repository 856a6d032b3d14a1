import { receiptKeys } from '@market/platform/settings/vault'
import { newReceiptKey, receiptSigner } from '@market/platform/vault/receipt-keys'

/** Signs receipts as the api does with this value of `RECEIPT_KEYS`: a new key unless given. */
export const testReceiptSigner = (setting: string = newReceiptKey()) =>
  receiptSigner(receiptKeys.parse(setting))
