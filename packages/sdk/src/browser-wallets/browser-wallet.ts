import { limitTimeout, type PaymentRequirement } from '../payment.ts'

/** A network as `GET /api/config` describes it. */
export interface WalletNetwork {
  readonly network: string
  readonly caip2: string
  readonly chain_id: number | null
  readonly usdc: string
  /** A node for everybody, with which a wallet adds a network that it does not know. */
  readonly public_rpc_url?: string | null
  /** What gas is paid in, for example ETH. */
  readonly coin?: string
  readonly explorer_address_url?: string | null
}

export interface PaymentOptions {
  readonly network: WalletNetwork
  /** A Solana node that the page may call; the public one by default, which allows few requests. */
  readonly solanaNodeUrl?: string | undefined
}

/** The body field `signed_payment`: a payment of x402 version 2. */
export interface SignedPayment {
  readonly x402Version: 2
  readonly accepted: PaymentRequirement
  readonly payload: Readonly<Record<string, unknown>>
}

export interface UsdcTransfer {
  readonly network: WalletNetwork
  readonly to: string
  /** A decimal text such as '5.50'. */
  readonly amountUsd: string
}

/** What a wallet says about the account that pays, without opening its window. */
export interface WalletAccount {
  /** Undefined until the user connected an account with this page. */
  readonly address: string | undefined
  /** Whether the wallet shows the network: it signs payments of the network that it shows. */
  readonly isOnNetwork: boolean
  /** The USDC of the account in millionths; undefined when it cannot be read. */
  readonly usdc: bigint | undefined
}

/** A wallet in this browser. Each method except `readAccount` can open its window; the user's no throws `WalletRejected`. */
export interface BrowserWallet {
  /** Stays the same when the page is opened again. */
  readonly id: string
  readonly name: string
  /** A `data:` URL of a picture, or empty. */
  readonly icon: string
  readonly chain: 'base' | 'solana'
  /** Returns the address of the account that the user chose. */
  connect(): Promise<string>
  /** EVM: asks the wallet for the balance, on the network that it shows. Solana: asks `solanaNodeUrl`. */
  readAccount(options: PaymentOptions): Promise<WalletAccount>
  /** EVM: has the wallet show the network, and add it when it does not know it. `signPayment` does the same. */
  switchTo?(network: WalletNetwork): Promise<void>
  /** Returns the signature as `wallet_sig` has it. */
  signMessage(text: string): Promise<string>
  /** Signs one payment of exactly the amount of the requirement, which needs no coin for gas. */
  signPayment(requirement: PaymentRequirement, options: PaymentOptions): Promise<SignedPayment>
  /** EVM: sends USDC, which costs gas. Returns the hash of the transaction. */
  sendUsdc?(transfer: UsdcTransfer): Promise<string>
}

/** The requirement as it is signed. Throws unless it is for USDC of this network. */
export function checkRequirement(
  requirement: PaymentRequirement,
  { caip2, usdc, network }: WalletNetwork,
): PaymentRequirement {
  const { scheme, asset, amount } = requirement
  const isUsdc = asset === usdc || (usdc.startsWith('0x') && asset.toLowerCase() === usdc.toLowerCase())
  if (scheme !== 'exact' || requirement.network !== caip2 || !isUsdc || !/^[1-9]\d{0,29}$/.test(amount))
    throw new TypeError(`The payment is not one of USDC on ${network}. Nothing was signed.`)
  return limitTimeout(requirement)
}

/** Other pictures would tell another server who opens the page. */
export const pictureOf = (icon: unknown): string =>
  typeof icon === 'string' && icon.startsWith('data:image/') ? icon : ''
