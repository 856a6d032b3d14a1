/** The row and field that an encrypted value belongs to. It cannot be decrypted for any other row or field. */
export interface SealContext {
  readonly row: string
  readonly field: string
}

/** Encrypts secrets that must be readable later. The keys are in this process or in a KMS. */
export interface Vault {
  /** Makes no network request, because it runs inside transactions. Data keys are fetched in advance. */
  seal(plain: string, context: SealContext): Buffer
  /** Calls the KMS only for a data key that is not cached. */
  open(sealed: Buffer, context: SealContext): Promise<string>
  /** Whether the value is encrypted with an old key. Reads only the header of the value. */
  needsReseal(sealed: Buffer): boolean
  /** Keyed hash for finding a secret without storing it in readable form. */
  fingerprint(secret: string): Buffer
}
