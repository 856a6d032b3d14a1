import { base58 } from '../wallets.ts'
import { type BrowserWallet, checkRequirement, pictureOf } from './browser-wallet.ts'
import { asked, WalletError, WalletWrongAccount } from './errors.ts'
import { solanaBalance } from './solana-balance.ts'

interface Account {
  readonly address: string
}

/** What is used of a wallet of the Wallet Standard. */
export interface StandardWallet {
  readonly name: string
  readonly icon: string
  readonly accounts: readonly Account[]
  readonly features: Partial<Features>
}

interface Features {
  readonly 'standard:connect': { connect(): Promise<{ readonly accounts: readonly Account[] }> }
  readonly 'solana:signMessage': {
    signMessage(input: {
      readonly account: Account
      readonly message: Uint8Array
    }): Promise<readonly { readonly signature: Uint8Array }[]>
  }
  readonly 'solana:signTransaction': {
    signTransaction(input: {
      readonly account: Account
      readonly transaction: Uint8Array
      readonly chain: string
    }): Promise<readonly { readonly signedTransaction: Uint8Array }[]>
  }
}

const NEEDED = ['standard:connect', 'solana:signMessage', 'solana:signTransaction'] as const

/** Undefined for a wallet of another chain, or one that cannot sign. */
export function solanaBrowserWallet(wallet: StandardWallet): BrowserWallet | undefined {
  if (NEEDED.some((feature) => wallet.features[feature] === undefined)) return undefined
  const features = wallet.features as Features
  let connected: string | undefined

  async function connect(): Promise<string> {
    const { accounts } = await asked(features['standard:connect'].connect())
    const [account] = accounts
    if (account === undefined) throw new WalletWrongAccount(connected ?? 'an account')
    connected = account.address
    return connected
  }

  async function requireAccount(): Promise<Account> {
    const expected = connected ?? (await connect())
    const account = wallet.accounts.find(({ address }) => address === expected)
    if (account === undefined) throw new WalletWrongAccount(expected)
    return account
  }

  return {
    id: `solana:${wallet.name}`,
    name: wallet.name,
    icon: pictureOf(wallet.icon),
    chain: 'solana',
    connect,

    async readAccount({ network, solanaNodeUrl }) {
      const address =
        wallet.accounts.find((one) => one.address === connected)?.address ?? wallet.accounts[0]?.address
      const canRead = address !== undefined && solanaNodeUrl !== undefined
      const usdc = canRead ? await solanaBalance(solanaNodeUrl, address, network.usdc) : undefined
      return { address, isOnNetwork: true, usdc }
    },

    async signMessage(text) {
      const account = await requireAccount()
      const message = new TextEncoder().encode(text)
      const [signed] = await asked(features['solana:signMessage'].signMessage({ account, message }))
      return base58(required(signed).signature)
    },

    async signPayment(requirement, { network, solanaNodeUrl }) {
      const accepted = checkRequirement(requirement, network)
      const [account, { signSolanaPaymentBy }] = await Promise.all([
        requireAccount(),
        import('../pay-solana.ts'),
      ])
      const sign = async (transaction: Uint8Array) => {
        const input = { account, transaction, chain: 'solana:mainnet' }
        const [signed] = await asked(features['solana:signTransaction'].signTransaction(input))
        return required(signed).signedTransaction
      }
      const payload = await signSolanaPaymentBy({ address: account.address, sign }, accepted, solanaNodeUrl)
      return { x402Version: 2, accepted, payload }
    },
  }
}

function required<T>(signed: T | undefined): T {
  if (signed === undefined) throw new WalletError('The wallet returned no signature.')
  return signed
}
