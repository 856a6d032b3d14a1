import { address, type Base64EncodedBytes, none } from '@solana/kit'
import { getMintEncoder, getTokenSize, TOKEN_PROGRAM_ADDRESS } from '@solana-program/token'
import { expect, test } from 'vitest'
import { TOKEN_2022_PROGRAM_ADDRESS } from './token-2022.ts'
import { decodeMint } from './token-mint.ts'

const MINT = 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v'
const BASE = Uint8Array.from(
  getMintEncoder().encode({
    mintAuthority: none(),
    supply: 1n,
    decimals: 9,
    isInitialized: true,
    freezeAuthority: none(),
  }),
)

const extension = (type: number, data: Uint8Array): Buffer => {
  const header = Buffer.alloc(4)
  header.writeUInt16LE(type)
  header.writeUInt16LE(data.length, 2)
  return Buffer.concat([header, data])
}

/** A mint of Token-2022 with these extensions, as a node returns it. */
const mintWith = (...extensions: readonly Buffer[]) => {
  const padding = Buffer.alloc(getTokenSize() - BASE.length)
  const data = Buffer.concat([BASE, padding, Buffer.of(1), ...extensions])
  return accountOf(TOKEN_2022_PROGRAM_ADDRESS, data)
}

const accountOf = (owner: ReturnType<typeof address>, data: Uint8Array) => ({
  owner,
  data: [Buffer.from(data).toString('base64') as Base64EncodedBytes, 'base64'] as const,
})

const HOOK = 14
const PAUSABLE = 26
const noHook = extension(HOOK, new Uint8Array(64))
const hook = extension(HOOK, Uint8Array.of(...new Uint8Array(32), ...new Uint8Array(32).fill(7)))
const running = extension(PAUSABLE, new Uint8Array(33))
const paused = extension(PAUSABLE, Uint8Array.of(...new Uint8Array(32), 1))

test.each([
  ['no extension', mintWith(), 170, undefined],
  ['a transfer fee', mintWith(extension(1, new Uint8Array(108))), 182, undefined],
  ['a hook that is not set', mintWith(noHook), 175, undefined],
  ['a hook', mintWith(hook), 175, 'its transfers call another program, which this wallet does not do'],
  [
    'tokens that cannot be transferred',
    mintWith(extension(9, new Uint8Array())),
    174,
    'its tokens cannot be transferred',
  ],
  ['transfers that can be paused', mintWith(running), 174, undefined],
  ['paused transfers', mintWith(noHook, paused), 179, 'its issuer has paused all transfers'],
  ['an unknown extension', mintWith(extension(99, new Uint8Array(8))), 170, undefined],
])('decodeMint: a mint of Token-2022 with %s', (_, account, accountBytes, rejected) => {
  expect(decodeMint(MINT, account)).toEqual({
    ...{ mint: MINT, decimals: 9, program: TOKEN_2022_PROGRAM_ADDRESS },
    ...{ accountBytes, rejected },
  })
})

test('decodeMint: a mint of the Token program has accounts of 165 bytes', () => {
  const classic = accountOf(TOKEN_PROGRAM_ADDRESS, BASE)
  expect(decodeMint(MINT, classic)).toMatchObject({ accountBytes: 165, rejected: undefined })
})

test('decodeMint: a token account, an account of another program, and one that is not initialized are no mints', () => {
  const account = Buffer.alloc(getTokenSize() + 1)
  account[getTokenSize()] = 2
  const empty = Buffer.alloc(BASE.length)
  for (const value of [
    null,
    accountOf(address(MINT), BASE),
    accountOf(TOKEN_PROGRAM_ADDRESS, Buffer.alloc(getTokenSize())),
    accountOf(TOKEN_2022_PROGRAM_ADDRESS, account),
    accountOf(TOKEN_2022_PROGRAM_ADDRESS, empty),
  ])
    expect(decodeMint(MINT, value)).toBeUndefined()
})
