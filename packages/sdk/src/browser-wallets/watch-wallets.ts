import type { BrowserWallet } from './browser-wallet.ts'
import { type Announcement, evmBrowserWallet } from './evm-wallet.ts'
import { type StandardWallet, solanaBrowserWallet } from './solana-wallet.ts'

/** The names of events are those of EIP-6963 and of the Wallet Standard. */
const EVM = { found: 'eip6963:announceProvider', ask: 'eip6963:requestProvider' } as const
const STANDARD = { found: 'wallet-standard:register-wallet', ask: 'wallet-standard:app-ready' } as const

/**
 * Wallets in this browser: EIP-6963 providers, and Wallet Standard wallets of Solana. Calls back at once and whenever one
 * appears or disappears; returns a function that stops.
 */
export function watchWallets(
  onChange: (wallets: readonly BrowserWallet[]) => void,
  page: EventTarget | undefined = (globalThis as { readonly window?: EventTarget }).window,
): () => void {
  const wallets = new Map<string, BrowserWallet>()
  let isReady = false
  const changed = () => isReady && onChange([...wallets.values()])

  /** A wallet announces itself again for every page script that asks. */
  function add(wallet: BrowserWallet | undefined): void {
    if (wallet === undefined || wallets.has(wallet.id)) return
    wallets.set(wallet.id, wallet)
    changed()
  }

  const register = (...all: readonly StandardWallet[]) => {
    const added = all.map(solanaBrowserWallet)
    for (const one of added) add(one)
    return () => {
      for (const one of added) if (one !== undefined && wallets.get(one.id) === one) wallets.delete(one.id)
      changed()
    }
  }
  const standard = { register }

  const onEvm = (event: Event) => add(evmBrowserWallet((event as CustomEvent<Announcement>).detail))
  const onStandard = (event: Event) =>
    (event as CustomEvent<(page: typeof standard) => unknown>).detail(standard)

  page?.addEventListener(EVM.found, onEvm)
  page?.addEventListener(STANDARD.found, onStandard)
  page?.dispatchEvent(new CustomEvent(EVM.ask))
  page?.dispatchEvent(new CustomEvent(STANDARD.ask, { detail: standard }))
  isReady = true
  changed()
  return () => {
    isReady = false
    page?.removeEventListener(EVM.found, onEvm)
    page?.removeEventListener(STANDARD.found, onStandard)
  }
}
