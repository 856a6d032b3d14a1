import type { Wallet, WalletChain } from '@market/core/ports/signatures'
import { getBase58Encoder, isAddress, isOffCurveAddress } from '@solana/kit'
import { getAddress, isHex } from 'viem'
import { isSmallOrderKey } from './small-order-keys.ts'

const EVM_ADDRESS = /^0x[0-9a-fA-F]{40}$/
const SOLANA_ADDRESS = /^[1-9A-HJ-NP-Za-km-z]{32,44}$/
/** The zero address and the precompiles. They have no key, and some return a value for any call. */
const EVM_RESERVED = /^0x0{36}/

const base58 = getBase58Encoder()

const parseEvm = (text: string): Wallet | undefined => {
  const key = text.toLowerCase()
  if (!isHex(key) || EVM_RESERVED.test(key)) return undefined
  return { chain: 'base', address: getAddress(key), key }
}

const parseSolana = (text: string): Wallet | undefined => {
  if (!isAddress(text)) return undefined
  // A program-derived address has no private key, and anyone can forge signatures of a small-order key.
  if (isOffCurveAddress(text) || isSmallOrderKey(Uint8Array.from(base58.encode(text)))) return undefined
  return { chain: 'solana', address: text, key: text }
}

/** Undefined when the text is not a wallet that can sign, or not one on the given chain. */
export const parseWallet = (text: string, chain?: WalletChain): Wallet | undefined => {
  if (EVM_ADDRESS.test(text)) return chain === 'solana' ? undefined : parseEvm(text)
  if (SOLANA_ADDRESS.test(text)) return chain === 'base' ? undefined : parseSolana(text)
  return undefined
}
