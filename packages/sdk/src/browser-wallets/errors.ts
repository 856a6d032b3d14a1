/** The wallet did not do what was asked. `name` is stable, for programs; `cause` is what the wallet said. */
export class WalletError extends Error {
  override readonly name: string = 'WalletError'
}

/** The user closed or rejected the request of the wallet. */
export class WalletRejected extends WalletError {
  override readonly name = 'WalletRejected'
}

/** The wallet does not know the network, and could not add it. */
export class WalletChainUnknown extends WalletError {
  override readonly name = 'WalletChainUnknown'
}

/** The wallet no longer shows this page the account that it connected with. */
export class WalletWrongAccount extends WalletError {
  override readonly name = 'WalletWrongAccount'
  readonly expected: string

  constructor(expected: string) {
    super(
      `The wallet does not show ${expected} any more. Choose this account in the wallet, or connect again.`,
    )
    this.expected = expected
  }
}

/** EIP-1193. Wallets of Solana use it too. */
const USER_REJECTED = 4001
/** EIP-3085, and where MetaMask on phones puts it. */
const CHAIN_UNKNOWN = 4902

interface ProviderError {
  readonly code?: unknown
  readonly message?: unknown
  readonly data?: { readonly originalError?: { readonly code?: unknown } }
}

/** What a wallet throws is often a plain object. */
export async function asked<T>(response: Promise<T>): Promise<T> {
  try {
    return await response
  } catch (cause) {
    const { code, message, data } = (cause ?? {}) as ProviderError
    const text = typeof message === 'string' ? message : 'no reason'
    // Wallets of Solana without a code say it in words.
    if (code === USER_REJECTED || (code === undefined && /reject|denied|declined|cancel/i.test(text)))
      throw new WalletRejected('The request was rejected in the wallet.', { cause })
    if (code === CHAIN_UNKNOWN || data?.originalError?.code === CHAIN_UNKNOWN)
      throw new WalletChainUnknown('The wallet does not know this network. Add it in the wallet first.', {
        cause,
      })
    throw new WalletError(`The wallet failed: ${text}`, { cause })
  }
}
