/** The row and field that an encrypted value belongs to. It cannot be decrypted for any other row or field. */
export interface SealContext {
  readonly row: string
  readonly field: string
}

/** Each purpose has keys of its own, so that a leaked key serves one purpose only and each rotates alone. */
export type HashPurpose = 'api_key' | 'x402_claim' | 'access_token' | 'file_url' | 'audit'

/** Encrypts secrets that must be readable later. The keys are in this process or in a KMS. */
export interface Vault {
  /** Makes no network request, because it runs inside transactions. Data keys are fetched in advance. */
  seal(plain: string, context: SealContext): Buffer
  /** Calls the KMS only for a data key that is not cached. */
  open(sealed: Buffer, context: SealContext): Promise<string>
  /** Whether the value is encrypted with an old key. Reads only the header of the value. */
  needsReseal(sealed: Buffer): boolean
  /** Seals the 32-byte seed of a server wallet to a public key. Only a `SeedOpener` opens it. */
  sealSeed(seed: Uint8Array, context: SealContext): Promise<Buffer>
  /** Keyed hash with the current key of the purpose, for finding or verifying what is not stored in readable form. */
  fingerprint(purpose: HashPurpose, text: string): Buffer
  /** The hashes with every key of the purpose that is still accepted, the current one first. */
  fingerprints(purpose: HashPurpose, text: string): readonly Buffer[]
}

/** Opens the seeds of server wallets. Only the worker has the private keys. */
export interface SeedOpener {
  open(sealed: Buffer, context: SealContext): Promise<Buffer>
  /** Whether the seed is sealed to an old key. Reads only the header of the value. */
  needsReseal(sealed: Buffer): boolean
  /** Whether this process has the private key of the value. Reads only the header of the value. */
  hasKeyOf(sealed: Buffer): boolean
}

/** Seals a secret to a key of the owner. Only the worker exports. */
export interface SecretExporter {
  /** `publicKey`: X25519, 32 bytes as base64url. Returns the encapsulated key and the ciphertext, as base64url with a dot. */
  sealTo(publicKey: string, secret: Uint8Array, info: string): Promise<string>
}
