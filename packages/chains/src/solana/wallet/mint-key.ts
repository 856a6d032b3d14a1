import { hkdfSync } from 'node:crypto'
import type { SolanaKeySigner } from '@market/core/ports/signer'
import { assert } from '@market/kernel/assert'
import { SEED_BYTES, seedSigner } from './seed-signer.ts'

/** Changing one of these would let a wallet create a second mint. */
const PURPOSES = { launch: 'market:token-mint', identity: 'market:identity-mint' } as const

export type MintPurpose = keyof typeof PURPOSES

/**
 * The key of the only mint that a wallet can create for a purpose. It signs nothing but the creation, so it is derived
 * again instead of being stored.
 */
export const deriveMintKey = (seed: Uint8Array, purpose: MintPurpose): SolanaKeySigner => {
  assert(seed.length === SEED_BYTES, 'a seed has 32 bytes')
  const mintSeed = new Uint8Array(hkdfSync('sha256', seed, new Uint8Array(), PURPOSES[purpose], SEED_BYTES))
  try {
    return seedSigner(mintSeed)
  } finally {
    mintSeed.fill(0)
  }
}
