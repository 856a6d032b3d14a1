import { hexOf, signAuthorization } from '../authorization.ts'
import { microsOf } from '../usdc.ts'
import {
  type BrowserWallet,
  checkRequirement,
  pictureOf,
  type WalletAccount,
  type WalletNetwork,
} from './browser-wallet.ts'
import { asked, WalletChainUnknown, WalletWrongAccount } from './errors.ts'

/** EIP-1193. */
interface Provider {
  readonly request: (call: { readonly method: string; readonly params?: unknown }) => Promise<unknown>
}

/** What a wallet announces (EIP-6963). */
export interface Announcement {
  readonly info: { readonly rdns: string; readonly name: string; readonly icon: string }
  readonly provider: Provider
}

const EIP712_DOMAIN = [
  { name: 'name', type: 'string' },
  { name: 'version', type: 'string' },
  { name: 'chainId', type: 'uint256' },
  { name: 'verifyingContract', type: 'address' },
]

/** `transfer(address,uint256)` of ERC-20. */
const TRANSFER = '0xa9059cbb'
/** `balanceOf(address)` */
const BALANCE_OF = '0x70a08231'

export function evmBrowserWallet({ info, provider }: Announcement): BrowserWallet {
  const call = (method: string, ...params: unknown[]) =>
    asked(provider.request(params.length === 0 ? { method } : { method, params }))
  let connected: string | undefined

  async function connect(): Promise<string> {
    const [account] = (await call('eth_requestAccounts')) as readonly string[]
    if (account === undefined) throw new WalletWrongAccount(connected ?? 'an account')
    connected = account
    return account
  }

  /** The connected account. The user may have taken it back in the wallet meanwhile. */
  async function requireAccount(): Promise<string> {
    const expected = connected ?? (await connect())
    const shown = (await call('eth_accounts')) as readonly string[]
    if (shown.some((one) => one.toLowerCase() === expected.toLowerCase())) return expected
    throw new WalletWrongAccount(expected)
  }

  async function readAccount(network: WalletNetwork): Promise<WalletAccount> {
    const [shown, chainId] = await Promise.all([call('eth_accounts'), call('eth_chainId')])
    const accounts = shown as readonly string[]
    const own = connected?.toLowerCase()
    const address = accounts.find((one) => one.toLowerCase() === own) ?? accounts[0]
    const isOnNetwork = Number(chainId) === network.chain_id
    const usdc = address !== undefined && isOnNetwork ? await balanceOf(call, network, address) : undefined
    return { address, isOnNetwork, usdc }
  }

  return {
    id: `base:${info.rdns}`,
    name: info.name,
    icon: pictureOf(info.icon),
    chain: 'base',
    connect,
    readAccount: ({ network }) => readAccount(network),
    switchTo: (network) => switchChain(call, network),

    async signMessage(text) {
      const account = await requireAccount()
      return (await call('personal_sign', hexOf(new TextEncoder().encode(text)), account)) as string
    },

    async signPayment(requirement, { network }) {
      const accepted = checkRequirement(requirement, network)
      const account = await requireAccount()
      await switchChain(call, network)
      const payload = await signAuthorization(account, accepted, async (data) => {
        const typed = { ...data, types: { EIP712Domain: EIP712_DOMAIN, ...data.types } }
        return (await call('eth_signTypedData_v4', account, JSON.stringify(typed))) as string
      })
      return { x402Version: 2, accepted, payload }
    },

    async sendUsdc({ network, to, amountUsd }) {
      const amount = microsOf(amountUsd)
      if (amount === undefined || !/^0x[0-9a-f]{40}$/i.test(to))
        throw new TypeError(`${amountUsd} USDC cannot be sent to ${to}. Nothing was sent.`)
      const from = await requireAccount()
      await switchChain(call, network)
      const data = TRANSFER + wordOf(to.slice(2).toLowerCase()) + wordOf(amount.toString(16))
      return (await call('eth_sendTransaction', { from, to: network.usdc, data, value: '0x0' })) as string
    },
  }
}

const wordOf = (hex: string): string => hex.padStart(64, '0')

type Call = (method: string, ...params: unknown[]) => Promise<unknown>

/** Undefined when the wallet's node does not say. */
async function balanceOf(call: Call, { usdc }: WalletNetwork, account: string): Promise<bigint | undefined> {
  const data = BALANCE_OF + wordOf(account.slice(2).toLowerCase())
  const balance = await call('eth_call', { to: usdc, data }, 'latest').catch(() => undefined)
  return typeof balance === 'string' && /^0x[0-9a-f]{64}$/i.test(balance) ? BigInt(balance) : undefined
}

/** Wallets sign payments of the chain that they show. */
async function switchChain(call: Call, network: WalletNetwork): Promise<void> {
  const { chain_id } = network
  if (chain_id === null) throw new TypeError(`${network.network} is not an EVM network. Nothing was signed.`)
  const isShown = async () => Number(await call('eth_chainId')) === chain_id
  if (await isShown()) return
  const chainId = `0x${chain_id.toString(16)}`
  try {
    await call('wallet_switchEthereumChain', { chainId })
  } catch (error) {
    if (!(error instanceof WalletChainUnknown) || !network.public_rpc_url) throw error
    await call('wallet_addEthereumChain', { chainId, ...detailsOf(network, network.public_rpc_url) })
    if (!(await isShown())) await call('wallet_switchEthereumChain', { chainId })
  }
  if (!(await isShown()))
    throw new WalletChainUnknown(`The wallet did not switch to ${network.network}. Choose it in the wallet.`)
}

/** As EIP-3085 wants it. */
const detailsOf = (
  { network, explorer_address_url, coin = 'ETH' }: WalletNetwork,
  rpcUrl: string,
): Readonly<Record<string, unknown>> => ({
  chainName: network,
  rpcUrls: [rpcUrl],
  nativeCurrency: { name: coin, symbol: coin, decimals: 18 },
  ...(explorer_address_url && { blockExplorerUrls: [new URL(explorer_address_url).origin] }),
})
