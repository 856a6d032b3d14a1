import { address, type KeyPairSigner, some } from '@solana/kit'
import { findAssociatedTokenPda, getMintEncoder, TOKEN_PROGRAM_ADDRESS } from '@solana-program/token'
import type { Surfpool } from './surfpool.ts'

/** The mint address of USDC on Solana mainnet. */
export const SOLANA_USDC = 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v'

const MINT_RENT_LAMPORTS = 1_461_600
const SUPPLY = 10n ** 16n

export interface SolanaUsdc {
  readonly mint: string
  /** Sets the USDC balance of the wallet's token account. */
  fund(owner: string, amount: bigint): Promise<void>
  accountOf(owner: string): Promise<string>
  balanceOf(owner: string): Promise<bigint>
}

/** Puts a mint with USDC's decimals at USDC's address, whose issuer (who may mint and freeze) is the given wallet. */
export const installSolanaUsdc = async (
  chain: Pick<Surfpool, 'call'>,
  issuer: Pick<KeyPairSigner, 'address'>,
  { mint = SOLANA_USDC, decimals = 6 }: { readonly mint?: string; readonly decimals?: number } = {},
): Promise<SolanaUsdc> => {
  const data = getMintEncoder().encode({
    mintAuthority: some(issuer.address),
    supply: SUPPLY,
    decimals,
    isInitialized: true,
    freezeAuthority: some(issuer.address),
  })
  await chain.call('surfnet_setAccount', mint, {
    lamports: MINT_RENT_LAMPORTS,
    owner: TOKEN_PROGRAM_ADDRESS,
    data: Buffer.from(data).toString('hex'),
    executable: false,
  })
  const accountOf = async (owner: string): Promise<string> => {
    const seeds = { mint: address(mint), owner: address(owner), tokenProgram: TOKEN_PROGRAM_ADDRESS }
    return (await findAssociatedTokenPda(seeds))[0]
  }
  return {
    mint,
    accountOf,
    async fund(owner, amount) {
      await chain.call(
        'surfnet_setTokenAccount',
        owner,
        mint,
        { amount: Number(amount) },
        TOKEN_PROGRAM_ADDRESS,
      )
    },
    async balanceOf(owner) {
      const account = await accountOf(owner)
      const config = { encoding: 'jsonParsed', commitment: 'confirmed' }
      const { value } = (await chain.call('getAccountInfo', account, config)) as {
        readonly value: {
          readonly data: {
            /** Undefined until the account is initialized. */
            readonly parsed?: { readonly info: { readonly tokenAmount: { readonly amount: string } } }
          }
        } | null
      }
      return BigInt(value?.data.parsed?.info.tokenAmount.amount ?? 0n)
    },
  }
}
