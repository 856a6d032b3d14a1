/** A local chain and what can be done on it from outside. */
export interface LocalNetwork {
  readonly place: NetworkPlace
  /** The treasury's key as the worker takes it: 32 bytes in hex. */
  readonly treasuryKey: string
  /** The account that brings payments of buyers to the chain, and its key in the same form. */
  readonly gas: { readonly account: string; readonly key: string }
  /** What tells the chain from others: its id, on Solana the hash of its first block. */
  readonly identity: string
  /** A wallet that `transfer` can send from; it holds nothing yet. */
  newWallet(): Promise<string>
  /** Gives the address so much more: USDC in millionths, coin for fees in its smallest unit. */
  fund(address: string, more: { readonly usdc: bigint; readonly native: bigint }): Promise<void>
  /** A real transfer of USDC. The payer is given what it needs for it. Resolves once it is in a block. */
  transfer(to: string, amount: bigint, from: string | undefined): Promise<Sent>
  /** The blocks from now on carry a later time. */
  advance(seconds: number): Promise<void>
  stop(): Promise<void>
}

/** As `--json` prints it. */
export interface NetworkPlace {
  readonly rpc: string
  readonly usdc: string
  readonly treasury: string
}

export interface Sent {
  readonly tx: string
  readonly payer: string
}
