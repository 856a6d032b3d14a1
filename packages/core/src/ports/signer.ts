/** Signs with a key that is held in this process or in a KMS. */
export interface EvmKeySigner {
  readonly address: string
  /** A recoverable signature over a 32-byte hash, with low s. */
  signHash(hash: Uint8Array): Promise<{ readonly r: bigint; readonly s: bigint; readonly yParity: 0 | 1 }>
}

export interface SolanaKeySigner {
  readonly address: string
  /** An Ed25519 signature, 64 bytes. */
  signMessage(message: Uint8Array): Promise<Uint8Array>
}
