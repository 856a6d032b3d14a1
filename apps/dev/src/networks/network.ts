/** A local chain, and the operations of the control server on it. */
export interface LocalNetwork {
  readonly addresses: NetworkAddresses
  /** The treasury's private key as in the worker's settings: 32 bytes in hex. */
  readonly treasuryKey: string
  /** The account that submits payments of buyers and pays their fees, and its private key in hex. */
  readonly gas: { readonly account: string; readonly key: string }
  /** The key of the account that sends payouts, in hex. Not on Solana, where the treasury sends them. */
  readonly payoutGasKey?: string | undefined
  /** Vaults to earn in, and the key of the wallet that holds their shares. Only on Base. */
  readonly venues?: LocalVenues | undefined
  /** The chain id, or on Solana the genesis hash. */
  readonly identity: string
  /** Creates an empty wallet that `transfer` can send from. */
  newWallet(): Promise<Wallet>
  /** Adds to the balance of an address: USDC in micros, the native coin in its smallest unit. */
  fund(address: string, more: { readonly usdc: bigint; readonly native: bigint }): Promise<void>
  /** Transfers USDC on the chain. The payer is funded first. Resolves once the transfer is in a block. */
  transfer(to: string, amount: bigint, from: string | undefined): Promise<SentTransfer>
  /** Whether blocks are made. While they are not, a transaction waits. Not on Solana. */
  makeBlocks(on: boolean): Promise<void>
  /** Resolves once the newest block is at least as new. */
  untilBlockAt(at: Date): Promise<void>
  stop(): Promise<void>
}

export interface LocalVenues {
  readonly wallet: string
  readonly key: string
  /** As in EARN_MARKETS. */
  readonly markets: readonly Readonly<Record<string, string>>[]
}

export interface Wallet {
  readonly address: string
  /** As wallets and libraries import it: hex on EVM, the 64 bytes of key and address in base58 on Solana. */
  readonly private_key: string
}

/** Printed by `--json`. */
export interface NetworkAddresses {
  readonly rpc: string
  readonly usdc: string
  readonly treasury: string
}

export interface SentTransfer {
  readonly tx: string
  readonly payer: string
}
