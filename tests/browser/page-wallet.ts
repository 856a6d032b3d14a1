import type { BrowserContext } from 'playwright-core'
import { createWalletClient, defineChain, erc20Abi, type Hex, http } from 'viem'
import {
  type InjectedEvmWallet,
  type InjectedSolanaWallet,
  injectEvmWallet,
  injectSolanaWallet,
  PICTURE,
} from '../support/injected-wallets.ts'

/** Wallets in every page of a browser, as extensions put them there. Their keys stay in the process of the test. */

interface Failure {
  readonly code: number
  readonly message: string
}
type Answer = { readonly result: unknown } | { readonly error: Failure }

/** What a page is told: an error with its code, as extensions throw it. */
async function answered(asking: Promise<unknown>): Promise<Answer> {
  try {
    return { result: await asking }
  } catch (error) {
    const { code = -32_603, message = String(error) } = error as Partial<Failure>
    return { error: { code, message } }
  }
}

const evmExtension = (info: object) => `
  const request = async (call) => {
    const { result, error } = await evmRequest(call)
    if (error) throw error
    return result
  }
  const info = ${JSON.stringify(info)}
  const announce = () =>
    dispatchEvent(new CustomEvent('eip6963:announceProvider', { detail: { info, provider: { request } } }))
  addEventListener('eip6963:requestProvider', announce)
`

interface EvmOptions {
  /** The chain that its user has money on; the wallet shows Ethereum at first. */
  readonly rpc: string
  readonly chainId: number
}

/** An EIP-6963 wallet. It knows Ethereum and Base, and asks the node for balances. */
export async function installEvmWallet(context: BrowserContext, { rpc, chainId }: EvmOptions) {
  const wallet = injectEvmWallet(undefined, 1, { [chainId]: rpc })
  const { info, provider } = announcedBy(wallet)
  await context.exposeFunction('evmRequest', (call: never) => answered(provider.request(call)))
  await context.addInitScript(evmExtension(info))
  const chain = defineChain({
    ...{ id: chainId, name: 'Local', rpcUrls: { default: { http: [rpc] } } },
    nativeCurrency: { name: 'ETH', symbol: 'ETH', decimals: 18 },
  })
  const client = createWalletClient({ account: wallet.account, chain, transport: http(rpc) })
  return Object.assign(wallet, {
    address: wallet.account.address as string,
    /** Sends USDC from another device, so that no page knows of it. */
    send: (usdc: Hex, to: Hex, amount: bigint) =>
      client.writeContract({ address: usdc, abi: erc20Abi, functionName: 'transfer', args: [to, amount] }),
  })
}

function announcedBy(wallet: InjectedEvmWallet) {
  const page = new EventTarget()
  let detail:
    | { readonly info: object; readonly provider: { request(call: never): Promise<unknown> } }
    | undefined
  page.addEventListener('eip6963:announceProvider', (event) => {
    detail = (event as CustomEvent).detail
  })
  wallet.install(page)
  if (detail === undefined) throw new Error('the wallet announced itself')
  return detail
}

const SOLANA_EXTENSION = `
  let accounts = []
  const ask = async (method, bytes) => {
    const { result, error } = await solanaRequest(method, bytes && [...bytes])
    if (error) throw error
    return result
  }
  const standard = {
    version: '1.0.0', name: 'Test wallet', icon: '${PICTURE}', chains: ['solana:mainnet'],
    get accounts() { return accounts },
    features: {
      'standard:connect': { connect: async () => ({ accounts: (accounts = await ask('connect')) }) },
      'solana:signMessage': {
        signMessage: async ({ message }) =>
          [{ signedMessage: message, signature: Uint8Array.from(await ask('signMessage', message)) }],
      },
      'solana:signTransaction': {
        signTransaction: async ({ transaction }) =>
          [{ signedTransaction: Uint8Array.from(await ask('signTransaction', transaction)) }],
      },
    },
  }
  const register = ({ register }) => register(standard)
  addEventListener('wallet-standard:app-ready', ({ detail }) => register(detail))
  dispatchEvent(new CustomEvent('wallet-standard:register-wallet', { detail: register }))
`

/** A wallet of the Wallet Standard on Solana. */
export async function installSolanaWallet(context: BrowserContext) {
  const wallet = await injectSolanaWallet()
  const features = featuresOf(wallet)
  const methods: Readonly<Record<string, (bytes: Uint8Array) => Promise<unknown>>> = {
    connect: async () => (await features['standard:connect'].connect()).accounts,
    signMessage: async (message) => {
      const [signed] = await features['solana:signMessage'].signMessage({ message })
      return [...(signed?.signature ?? [])]
    },
    signTransaction: async (transaction) => {
      const [signed] = await features['solana:signTransaction'].signTransaction({ transaction })
      return [...(signed?.signedTransaction ?? [])]
    },
  }
  await context.exposeFunction('solanaRequest', (method: string, bytes: readonly number[] = []) =>
    answered(methods[method]?.(Uint8Array.from(bytes)) ?? Promise.reject(new Error(method))),
  )
  await context.addInitScript(SOLANA_EXTENSION)
  return wallet
}

function featuresOf(wallet: InjectedSolanaWallet) {
  const page = new EventTarget()
  let features: InjectedSolanaWallet['features'] | undefined
  page.addEventListener('wallet-standard:register-wallet', (event) =>
    (event as CustomEvent).detail({
      register: (one: Pick<InjectedSolanaWallet, 'features'>) => {
        features = one.features
      },
    }),
  )
  wallet.install(page)
  if (features === undefined) throw new Error('the wallet registered itself')
  return features
}
