import { randomBytes } from 'node:crypto'
import { newReceiptKey } from './receipt-keys.ts'
import { formatPrivateKey, formatPublicKey, newSeedKey } from './seed-keys.ts'

const hex = (bytes: number): string => randomBytes(bytes).toString('hex')

/** New random keys for every purpose, as settings of the programs. */
export function newKeySettings() {
  const seedKey = newSeedKey()
  return {
    both: {
      VAULT_KEYS: `k-${hex(4)}:${hex(32)}`,
      API_KEY_HASH_KEYS: hex(32),
      X402_CLAIM_KEYS: hex(32),
      ACCESS_TOKEN_KEYS: hex(32),
      FILE_URL_KEYS: hex(32),
      AUDIT_KEYS: hex(32),
    },
    api: {
      WALLET_SEAL_PUBLIC_KEY: formatPublicKey(seedKey.publicKey),
      RECEIPT_KEYS: newReceiptKey(),
    },
    worker: { WALLET_SEAL_PRIVATE_KEYS: formatPrivateKey(seedKey) },
  }
}
