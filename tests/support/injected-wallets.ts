import { postJson } from '@market/testing/post-json'
import {
  createSignerFromKeyPair,
  generateKeyPair,
  getTransactionDecoder,
  getTransactionEncoder,
  partiallySignTransaction,
} from '@solana/kit'
import { createWalletClient, type Hex, hexToString, http } from 'viem'
import { generatePrivateKey, type PrivateKeyAccount, privateKeyToAccount } from 'viem/accounts'

/** Wallets as extensions inject them, with real keys. They write down every request that opens a window. */

interface Call {
  readonly method: string
  readonly params?: readonly never[]
}

/** A picture of one pixel. */
export const PIXEL =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR4nGNgYPhfDwAChAGAnAP0JwAAAABJRU5ErkJggg=='
export const PICTURE = `data:image/png;base64,${PIXEL}`

export interface InjectedWallet {
  /** Puts the wallet into a page, before or after the page asks for wallets. */
  readonly install: (page: EventTarget) => void
  /** What each window asked for, in order; of a text of the marketplace, what it is for. */
  readonly prompts: string[]
  /** The user says no to the next window. */
  rejectsNext: boolean
}

const rejected = () => Object.assign(new Error('User rejected the request.'), { code: 4001 })

const purposeIn = (message: string): string => /Request ID: ([^:\n]+)/.exec(message)?.[1] ?? 'message'

/** Writes down what a window asks for, and throws when the user says no. */
function ask(wallet: InjectedWallet, what: string): void {
  wallet.prompts.push(what)
  if (!wallet.rejectsNext) return
  wallet.rejectsNext = false
  throw rejected()
}

export interface InjectedEvmWallet extends InjectedWallet {
  readonly account: PrivateKeyAccount
  /** What the wallet shows. */
  chainId: number
  readonly knownChains: Set<number>
  readonly added: unknown[]
  /** The accounts that the page sees once it is connected. */
  shown: readonly string[]
  readonly sent: unknown[]
}

/** EIP-6963, with the requests that pages of the marketplace make. */
export function injectEvmWallet(
  key: Hex = generatePrivateKey(),
  chainId = 1,
  /** The node of each chain that has one, by its id. */
  nodes: Readonly<Record<number, string>> = {},
): InjectedEvmWallet {
  const account = privateKeyToAccount(key)
  const wallet: InjectedEvmWallet = {
    account,
    prompts: [],
    rejectsNext: false,
    chainId,
    knownChains: new Set([1, 8453]),
    added: [],
    shown: [],
    sent: [],
    install(page) {
      const info = {
        uuid: crypto.randomUUID(),
        name: 'Test wallet',
        icon: PICTURE,
        rdns: 'test.wallet',
      }
      const announce = () =>
        page.dispatchEvent(
          new CustomEvent('eip6963:announceProvider', { detail: { info, provider: { request } } }),
        )
      page.addEventListener('eip6963:requestProvider', announce)
      announce()
    },
  }

  const methods: Readonly<Record<string, (...params: never[]) => unknown>> = {
    eth_requestAccounts() {
      if (wallet.shown.length === 0) ask(wallet, 'connect')
      wallet.shown = [account.address]
      return wallet.shown
    },
    eth_accounts: () => wallet.shown,
    eth_chainId: () => `0x${wallet.chainId.toString(16)}`,
    wallet_switchEthereumChain({ chainId: wanted }: { chainId: Hex }) {
      if (!wallet.knownChains.has(Number(wanted))) throw { code: 4902, message: 'Unrecognized chain ID' }
      ask(wallet, 'switch')
      wallet.chainId = Number(wanted)
      return null
    },
    wallet_addEthereumChain(chain: { chainId: Hex }) {
      ask(wallet, 'add')
      wallet.added.push(chain)
      wallet.knownChains.add(Number(chain.chainId))
      return null
    },
    personal_sign(message: Hex) {
      ask(wallet, purposeIn(hexToString(message)))
      return account.signMessage({ message: { raw: message } })
    },
    eth_signTypedData_v4(_: string, json: string) {
      const data = JSON.parse(json)
      if (data.domain.chainId !== wallet.chainId) throw { code: -32603, message: 'the chain is another one' }
      ask(wallet, 'payment')
      return account.signTypedData(data)
    },
    async eth_call(...params: never[]) {
      const node = nodes[wallet.chainId]
      if (node === undefined) throw { code: -32603, message: 'the chain has no node here' }
      const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'eth_call', params })
      return (JSON.parse(await postJson(node, body)) as { readonly result: unknown }).result
    },
    eth_sendTransaction(transaction: { to: Hex; data: Hex }) {
      ask(wallet, 'transfer')
      wallet.sent.push(transaction)
      const node = nodes[wallet.chainId]
      if (node === undefined) return `0x${'7'.repeat(64)}`
      const { to, data } = transaction
      return createWalletClient({ account, transport: http(node) }).sendTransaction({ to, data, chain: null })
    },
  }
  const request = async ({ method, params = [] }: Call) => {
    const run = methods[method]
    if (run === undefined) throw { code: 4200, message: `${method} is not supported` }
    return run(...params)
  }
  return wallet
}

/** What pages of the marketplace use of it. */
interface SolanaFeatures {
  readonly 'standard:connect': {
    connect(): Promise<{ readonly accounts: readonly { readonly address: string }[] }>
  }
  readonly 'solana:signMessage': {
    signMessage(input: {
      readonly message: Uint8Array
    }): Promise<readonly { readonly signature: Uint8Array }[]>
  }
  readonly 'solana:signTransaction': {
    signTransaction(input: {
      readonly transaction: Uint8Array
    }): Promise<readonly { readonly signedTransaction: Uint8Array }[]>
  }
}

export interface InjectedSolanaWallet extends InjectedWallet {
  readonly address: string
  readonly features: SolanaFeatures
}

/** A wallet of the Wallet Standard on Solana. */
export async function injectSolanaWallet(): Promise<InjectedSolanaWallet> {
  const keys = await generateKeyPair(true)
  const signer = await createSignerFromKeyPair(keys)
  const account = { address: signer.address as string }
  const wallet: InjectedWallet = {
    prompts: [],
    rejectsNext: false,
    install(page) {
      const callback = ({ register }: { register(one: unknown): void }) => register(standard)
      page.addEventListener('wallet-standard:app-ready', (event) =>
        callback((event as CustomEvent<{ register(one: unknown): void }>).detail),
      )
      page.dispatchEvent(new CustomEvent('wallet-standard:register-wallet', { detail: callback }))
    },
  }
  let accounts: readonly { readonly address: string }[] = []
  const standard: { readonly features: SolanaFeatures } & Record<string, unknown> = {
    version: '1.0.0',
    name: 'Test wallet',
    icon: PICTURE,
    chains: ['solana:mainnet'],
    get accounts() {
      return accounts
    },
    features: {
      'standard:connect': {
        connect: async () => {
          if (accounts.length === 0) ask(wallet, 'connect')
          accounts = [account]
          return { accounts }
        },
      },
      'solana:signMessage': {
        signMessage: async ({ message }: { message: Uint8Array }) => {
          ask(wallet, purposeIn(new TextDecoder().decode(message)))
          const signature = await crypto.subtle.sign('Ed25519', keys.privateKey, Uint8Array.from(message))
          return [{ signedMessage: message, signature: new Uint8Array(signature) }]
        },
      },
      'solana:signTransaction': {
        signTransaction: async ({ transaction }: { transaction: Uint8Array }) => {
          ask(wallet, 'payment')
          const signed = await partiallySignTransaction([keys], getTransactionDecoder().decode(transaction))
          return [{ signedTransaction: Uint8Array.from(getTransactionEncoder().encode(signed)) }]
        },
      },
    },
  }
  return Object.assign(wallet, { address: signer.address as string, features: standard.features })
}
