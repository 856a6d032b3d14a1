import type { WalletSigner } from '@market/sdk'
import { type BrowserWallet, watchWallets } from '@market/sdk/wallets'
import { useEffect, useState } from 'react'
import { shortened } from '../format.ts'
import { readText, storeText } from './stored.ts'

/** Which wallet was used last in this browser. */
const LAST = 'market.wallet'

/** The wallets of this browser; undefined until it was asked. */
export function useWallets(): readonly BrowserWallet[] | undefined {
  const [wallets, setWallets] = useState<readonly BrowserWallet[]>()
  useEffect(() => watchWallets(setWallets), [])
  return wallets
}

/** Asks the wallet for an account, and remembers the wallet. */
export async function signerOf(wallet: BrowserWallet): Promise<WalletSigner> {
  const address = await wallet.connect()
  storeText(LAST, wallet.id)
  return { address, chain: wallet.chain, signText: (text) => wallet.signMessage(text) }
}

/** Wallets write an EVM address with any capital letters. */
export const isSameAddress = (one: string, other: string): boolean =>
  one === other || (one.startsWith('0x') && one.toLowerCase() === other.toLowerCase())

/** The wallet of a session signs each change. */
export async function signerFor(address: string): Promise<WalletSigner> {
  const wallets: BrowserWallet[] = []
  watchWallets((found) => wallets.splice(0, wallets.length, ...found))()
  const last = readText(LAST)
  const isEvm = address.startsWith('0x')
  const wallet =
    wallets.find(({ id }) => id === last) ?? wallets.find(({ chain }) => (chain === 'base') === isEvm)
  if (wallet === undefined)
    throw new Error(`The wallet ${shortened(address)} is not in this browser. Nothing was sent.`)
  const signer = await signerOf(wallet)
  if (isSameAddress(signer.address, address)) return signer
  throw new Error(
    `${wallet.name} shows ${shortened(signer.address)}, and you are signed in with ${shortened(address)}. Choose that account in the wallet, or sign in again.`,
  )
}
