/** What a sealed value is: the row and the field it belongs to. A value moved elsewhere does not open. */
export interface SealedPlace {
  readonly row: string
  readonly field: string
}

/** Keeps secrets that must be shown again. Two implementations: keys of this process, and a KMS. */
export interface Vault {
  /** Never waits for anything outside: it runs inside transactions, so data keys are fetched ahead. */
  seal(plain: string, place: SealedPlace): Buffer
  /** Asks outside only for a data key this process has not seen yet. */
  open(sealed: Buffer, place: SealedPlace): Promise<string>
  /** Whether the value stands under a key that no longer seals. Reads the value's head alone and opens nothing. */
  needsReseal(sealed: Buffer): boolean
  /** The keyed hash under which a secret is found again without being stored. */
  fingerprint(secret: string): Buffer
}
