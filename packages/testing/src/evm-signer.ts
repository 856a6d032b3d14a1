import type { Address } from 'viem'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'

export interface EvmSigner {
  /** EIP-55. */
  readonly address: Address
  /** `personal_sign`: 65 bytes in hexadecimal. */
  sign(message: string): Promise<string>
}

/** A new EVM wallet with its own key. */
export const evmSigner = (): EvmSigner => {
  const account = privateKeyToAccount(generatePrivateKey())
  return { address: account.address, sign: (message) => account.signMessage({ message }) }
}
