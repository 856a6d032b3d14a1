import { checkSwap } from '@market/chains/solana/swap/check-swap'
import { solanaSwapChecker } from '@market/chains/solana/swap/solana-swaps'
import type { SwapFlaw } from '@market/core/ports/swaps'
import { usdc } from '@market/kernel/money'
import { SOLANA_USDC } from '@market/testing/solana-usdc'
import {
  AccountRole,
  type AccountSignerMeta,
  type Address,
  address,
  createNoopSigner,
  generateKeyPairSigner,
  type Instruction,
  type KeyPairSigner,
} from '@solana/kit'
import {
  getRequestHeapFrameInstruction,
  getSetComputeUnitLimitInstruction,
  getSetComputeUnitPriceInstruction,
} from '@solana-program/compute-budget'
import {
  getAdvanceNonceAccountInstruction,
  getAssignInstruction,
  getTransferSolInstruction,
} from '@solana-program/system'
import {
  AuthorityType,
  getApproveInstruction,
  getBurnInstruction,
  getCloseAccountInstruction,
  getCreateAssociatedTokenIdempotentInstruction,
  getSetAuthorityInstruction,
  getTransferCheckedInstruction,
  getTransferInstruction,
} from '@solana-program/token'
import { beforeAll, describe, expect, test } from 'vitest'
import {
  buildSwap,
  buildVersion1,
  signSwap,
  swapInstructions,
  tokenAccountOf,
  withSignature,
} from '../support/swap-transactions.ts'

const AMOUNT = 5_000_000n
const OUT = 33_000_000n
const MIN_OUT = 32_900_000n
/** Of an honest swap: two signatures, and 60,000 units at 1,000 micro-lamports. */
const FEE = 10_060n
const TOKEN_2022 = address('TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb')

let taker: KeyPairSigner
let maker: KeyPairSigner
let third: KeyPairSigner
beforeAll(async () => {
  ;[taker, maker, third] = await Promise.all([
    generateKeyPairSigner(),
    generateKeyPairSigner(),
    generateKeyPairSigner(),
  ])
})

type Parts = Awaited<ReturnType<typeof swapInstructions>>
/** `undefined` leaves an instruction out. */
type Changed = { readonly [Name in keyof Parts]?: Instruction | undefined }
type Change = (parts: Parts) => Promise<Changed & { readonly more?: readonly Instruction[] }>

const check = (transaction: string) =>
  checkSwap(transaction, { taker: taker.address, amount: usdc(AMOUNT), minOut: MIN_OUT }, SOLANA_USDC)

const honest = () =>
  swapInstructions({ taker: taker.address, maker, mint: SOLANA_USDC, amount: AMOUNT, lamports: OUT })

/** An honest swap with the change, whose fee the taker pays unless said otherwise. */
async function built(change: Change = async () => ({}), feePayer = taker.address): Promise<string> {
  const parts = await honest()
  const { more = [], ...changed } = await change(parts)
  const all = [...Object.values({ ...parts, ...changed }), ...more]
  return buildSwap(
    all.filter((instruction) => instruction !== undefined),
    { feePayer },
  )
}

const signs = (signer: KeyPairSigner): AccountSignerMeta => ({
  address: signer.address,
  role: AccountRole.READONLY_SIGNER,
  signer,
})

/** The taker's signature, which a forged transaction asks for. */
const asTaker = () => createNoopSigner(taker.address)
const accountOf = (owner: KeyPairSigner, mint = SOLANA_USDC) => tokenAccountOf(owner.address, mint)

async function payment(changed: {
  source?: Address
  mint?: Address
  destination?: Address
  authority?: KeyPairSigner
  amount?: bigint
  decimals?: number
}): Promise<Instruction> {
  return getTransferCheckedInstruction({
    source: await accountOf(taker),
    mint: address(SOLANA_USDC),
    destination: await accountOf(maker),
    authority: asTaker(),
    amount: AMOUNT,
    decimals: 6,
    ...changed,
  })
}

const output = (from: Parameters<typeof getTransferSolInstruction>[0]['source'], to: Address, amount = OUT) =>
  getTransferSolInstruction({ source: from, destination: to, amount })

describe('checkSwap: accepts', () => {
  test.each(['taker', 'maker'] as const)('an honest swap whose fee the %s pays', async (payer) => {
    const feePayer = payer === 'taker' ? taker.address : maker.address
    expect(await check(await built(undefined, feePayer))).toEqual({
      messageHash: expect.stringMatching(/^[0-9a-f]{64}$/),
    })
  })

  test('a legacy transaction, and one with only the two transfers', async () => {
    const { payment: pays, output: brings } = await honest()
    for (const legacy of [true, false])
      expect(
        await check(await buildSwap([pays, brings], { feePayer: taker.address, legacy })),
      ).toHaveProperty('messageHash')
  })

  test('an output of exactly the minimum, after the fee when the taker pays it', async () => {
    const brings = (lamports: bigint) => async () => ({ output: output(maker, taker.address, lamports) })
    const accepted = { messageHash: expect.any(String) }
    const tooLow = { flaw: 'output_too_low' }
    expect(await check(await built(brings(MIN_OUT), maker.address))).toEqual(accepted)
    expect(await check(await built(brings(MIN_OUT - 1n), maker.address))).toEqual(tooLow)
    expect(await check(await built(brings(MIN_OUT + FEE), taker.address))).toEqual(accepted)
    expect(await check(await built(brings(MIN_OUT + FEE - 1n), taker.address))).toEqual(tooLow)
  })

  test('a fee of exactly 0.001 SOL', async () => {
    // Two signatures are 10,000 lamports, so 990,000 are left for 60,000 units.
    const price = getSetComputeUnitPriceInstruction({ microLamports: 16_500_000n })
    expect(await check(await built(async () => ({ price }), maker.address))).toHaveProperty('messageHash')
  })
})

const FORGED: readonly (readonly [name: string, flaw: SwapFlaw, change: Change])[] = [
  [
    'USDC of another mint',
    'payment_mint',
    async () => ({ payment: await payment({ mint: third.address, source: await accountOf(taker) }) }),
  ],
  [
    'USDC from the account of another owner',
    'payment_source',
    async () => ({ payment: await payment({ source: await accountOf(third) }) }),
  ],
  [
    'USDC by the authority of the maker',
    'payment_authority',
    async () => ({ payment: await payment({ authority: maker }) }),
  ],
  [
    'USDC to an account that is not the maker’s',
    'payment_destination',
    async () => ({ payment: await payment({ destination: await accountOf(third) }) }),
  ],
  ['a larger amount', 'payment_amount', async () => ({ payment: await payment({ amount: AMOUNT + 1n }) })],
  ['a smaller amount', 'payment_amount', async () => ({ payment: await payment({ amount: AMOUNT - 1n }) })],
  ['wrong decimals', 'payment_decimals', async () => ({ payment: await payment({ decimals: 9 }) })],
  ['a second payment', 'second_payment', async () => ({ more: [await payment({ amount: 1n })] })],
  [
    'a transfer without the mint and its decimals',
    'token_instruction',
    async () => ({
      payment: getTransferInstruction({
        source: await accountOf(taker),
        destination: await accountOf(maker),
        authority: asTaker(),
        amount: AMOUNT,
      }),
    }),
  ],
  [
    'USDC that is burned',
    'token_instruction',
    async () => ({
      more: [
        getBurnInstruction({
          account: await accountOf(taker),
          mint: address(SOLANA_USDC),
          authority: asTaker(),
          amount: 1n,
        }),
      ],
    }),
  ],
  ['SOL to another recipient', 'output_recipient', async () => ({ output: output(maker, third.address) })],
  [
    'less SOL than the minimum',
    'output_too_low',
    async () => ({ output: output(maker, taker.address, MIN_OUT - 1n) }),
  ],
  [
    'the taker’s own SOL as output',
    'output_source',
    async () => ({ output: output(asTaker(), taker.address) }),
  ],
  [
    'SOL of the taker in addition',
    'output_source',
    async () => ({ more: [output(asTaker(), maker.address, 1n)] }),
  ],
  ['a second transfer of SOL', 'second_output', async () => ({ more: [output(maker, third.address, 1n)] })],
  [
    'an approval of a delegate',
    'token_approve',
    async () => ({
      more: [
        getApproveInstruction({
          source: await accountOf(taker),
          delegate: maker.address,
          owner: asTaker(),
          amount: 1n,
        }),
      ],
    }),
  ],
  [
    'a new owner of the USDC account',
    'token_set_authority',
    async () => ({
      more: [
        getSetAuthorityInstruction({
          owned: await accountOf(taker),
          owner: asTaker(),
          authorityType: AuthorityType.AccountOwner,
          newAuthority: maker.address,
        }),
      ],
    }),
  ],
  [
    'the closing of the USDC account',
    'token_close_account',
    async () => ({
      more: [
        getCloseAccountInstruction({
          account: await accountOf(taker),
          destination: maker.address,
          owner: asTaker(),
        }),
      ],
    }),
  ],
  [
    'a Token-2022 transfer of a fake mint',
    'token_2022',
    async ({ payment: pays }) => ({ payment: { ...pays, programAddress: TOKEN_2022 } }),
  ],
  [
    'an unknown program',
    'unknown_program',
    async () => ({
      more: [
        {
          programAddress: third.address,
          accounts: [{ address: taker.address, role: AccountRole.WRITABLE_SIGNER }],
          data: Uint8Array.of(1),
        },
      ],
    }),
  ],
  [
    'a durable nonce',
    'durable_nonce',
    async ({ limit }) => ({
      limit: getAdvanceNonceAccountInstruction({ nonceAccount: third.address, nonceAuthority: maker }),
      more: [limit],
    }),
  ],
  [
    'another owner of the taker’s wallet',
    'system_instruction',
    async () => ({
      more: [getAssignInstruction({ account: asTaker(), programAddress: third.address })],
    }),
  ],
  [
    'a third signer',
    'signers',
    async ({ memo }) => ({
      memo: { ...memo, accounts: [signs(third)] },
    }),
  ],
  [
    'a huge priority fee',
    'fee_too_high',
    async () => ({ price: getSetComputeUnitPriceInstruction({ microLamports: 16_500_001n }) }),
  ],
  [
    'a price without a limit of units',
    'fee_too_high',
    async () => ({
      limit: undefined,
      price: getSetComputeUnitPriceInstruction({ microLamports: 1_000_000n }),
    }),
  ],
  [
    'two limits of units',
    'compute_budget',
    async () => ({ more: [getSetComputeUnitLimitInstruction({ units: 1 })] }),
  ],
  [
    'another instruction of the compute budget',
    'compute_budget',
    async () => ({ more: [getRequestHeapFrameInstruction({ bytes: 32_768 })] }),
  ],
  [
    'a token account that the taker pays for',
    'account_creation',
    async () => ({
      open: getCreateAssociatedTokenIdempotentInstruction({
        payer: asTaker(),
        ata: await accountOf(maker),
        owner: maker.address,
        mint: address(SOLANA_USDC),
      }),
    }),
  ],
  ['two memos', 'second_memo', async ({ memo }) => ({ more: [memo] })],
]

describe('checkSwap: rejects', () => {
  test.each(FORGED)('%s (%s)', async (_name, flaw, change) => {
    expect(await check(await built(change))).toEqual({ flaw })
  })

  test('a transaction without a payment, or without an output', async () => {
    const { payment: pays, output: brings, memo } = await honest()
    const asks = { ...memo, accounts: [{ address: taker.address, role: AccountRole.READONLY_SIGNER }] }
    const gives = { ...memo, accounts: [signs(maker)] }
    const feePayer = taker.address
    expect(await check(await buildSwap([brings, asks], { feePayer }))).toEqual({ flaw: 'no_payment' })
    expect(await check(await buildSwap([pays, gives], { feePayer }))).toEqual({ flaw: 'no_output' })
  })

  test('a transaction that only the taker signs, or that the taker need not sign', async () => {
    const { payment: pays, output: brings } = await honest()
    expect(await check(await buildSwap([pays], { feePayer: taker.address }))).toEqual({ flaw: 'signers' })
    expect(await check(await buildSwap([brings], { feePayer: maker.address }))).toEqual({ flaw: 'signers' })
    expect(await check(await buildSwap([brings], { feePayer: third.address }))).toEqual({ flaw: 'signers' })
    const paidByThird = await buildSwap([pays, brings], { feePayer: third.address })
    expect(await check(paidByThird)).toEqual({ flaw: 'signers' })
  })

  test('accounts in an address lookup table', async () => {
    const table = { [third.address]: [await accountOf(taker), await accountOf(maker)] }
    const transaction = await buildSwap(Object.values(await honest()), {
      feePayer: taker.address,
      tables: table,
    })
    expect(await check(transaction)).toEqual({ flaw: 'lookup_tables' })
  })

  test('a maker’s signature that is missing, of another message or of another key', async () => {
    const transaction = await built()
    const otherMessage = Buffer.from(await built(), 'base64')
    // The second signature belongs to the maker, because the taker pays the fee.
    const foreign = Uint8Array.from(otherMessage.subarray(65, 129))
    for (const bytes of [null, foreign, new Uint8Array(64).fill(7)])
      expect(await check(withSignature(transaction, maker.address, bytes))).toEqual({
        flaw: 'maker_signature',
      })
  })

  test('another version, trailing bytes, and what is not a transaction', async () => {
    const bytes = Buffer.from(await built(), 'base64')
    expect(await check(await buildVersion1(Object.values(await honest()), taker.address))).toEqual({
      flaw: 'version',
    })
    const longer = Buffer.concat([bytes, Buffer.of(0)]).toString('base64')
    for (const text of [longer, '', 'not base64!', 'AAAA', 'A'.repeat(1_648), bytes.toString('base64url')])
      expect(await check(text)).toEqual({ flaw: 'unreadable' })
  })
})

describe('checkSigned', () => {
  const checker = solanaSwapChecker({ rpcUrls: ['http://127.0.0.1:9'], usdc: SOLANA_USDC })

  test('returns the hash of the message, which the taker’s signature does not change', async () => {
    const transaction = await built()
    const ordered = await check(transaction)
    const signed = await checker.checkSigned(await signSwap(transaction, taker))
    expect(signed).toMatchObject({ ...ordered, signature: expect.stringMatching(/^[1-9A-Za-z]{64,88}$/) })
  })

  test('rejects a missing or wrong signature of either party', async () => {
    const transaction = await built()
    const signed = await signSwap(transaction, taker)
    const noMaker = withSignature(signed, maker.address, null)
    const wrongTaker = withSignature(signed, taker.address, new Uint8Array(64).fill(1))
    for (const text of [transaction, noMaker, wrongTaker])
      expect(await checker.checkSigned(text)).toEqual({ flaw: 'not_signed' })
    expect(await checker.checkSigned('AAAA')).toEqual({ flaw: 'unreadable' })
  })

  test('observe: is unknown while no node responds', async () => {
    const signature = '1'.repeat(64)
    expect(await checker.observe({ signature, lastValidHeight: 1n })).toBe('unknown')
  })
})
