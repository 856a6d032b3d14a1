import { anchorText } from '@market/solvency'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { expect, test } from 'vitest'
import {
  baseSignature,
  publish,
  RICH,
  SOLANA_TREASURY,
  TREASURY,
  useLyingServer,
  verify,
} from './test-lying-server.ts'

const api = useLyingServer()
const { both } = api
const SOLANA = ['--treasury', `solana-mainnet=${SOLANA_TREASURY}`]
const careful = () => verify(api.url, [...both(), '--treasury', `base-mainnet=${TREASURY}`, ...SOLANA])

type Lie = [name: string, lie: () => unknown, reason: RegExp]

/** Lists a signature that the treasury of Base did not make over the listed text. */
const listSigned = (...signatures: object[]) => Object.assign(api.world.anchors[0], { signatures })
const stranger = privateKeyToAccount(generatePrivateKey())

const SIGNATURE_LIES: readonly Lie[] = [
  [
    'another key signed the text',
    async () => listSigned(await baseSignature(api.world.anchors[0].text, stranger)),
    /by 0x\w+, not by the treasury 0x\w+: of another key, or over another text/,
  ],
  [
    'the treasury signed the text of another day',
    async () => listSigned(await baseSignature(api.lies.textIn(-1))),
    /of another key, or over another text/,
  ],
  [
    'a signature names the treasury of another party',
    async () => {
      const signed = await baseSignature(api.world.anchors[0].text, stranger)
      listSigned({ ...signed, treasury: stranger.address })
    },
    /signed by 0x\w+, not by the treasury 0x/,
  ],
  [
    'a root was changed after it was signed',
    async () => {
      listSigned(await baseSignature(api.world.anchors[0].text))
      Object.assign(api.world.anchors[0].networks[1], { root: '1'.repeat(64) })
      publish(api.world)
    },
    /of another key, or over another text/,
  ],
  [
    'a sum was changed after it was signed',
    async () => {
      listSigned(await baseSignature(api.world.anchors[0].text))
      Object.assign(api.world.anchors[0].networks[0], { total_micros: '9000000' })
    },
    /signature .* base-mainnet +the text is not the hash of the listed roots/,
  ],
  [
    'a signature is malformed',
    async () => {
      const { signature, ...rest } = await baseSignature(api.world.anchors[0].text)
      listSigned({ ...rest, signature: signature.slice(0, -2) })
    },
    /the signature is malformed/,
  ],
  [
    'a signature is of no point on the curve',
    async () => {
      const signed = await baseSignature(api.world.anchors[0].text)
      listSigned({ ...signed, signature: `0x${'f'.repeat(128)}1b` })
    },
    /the signature is malformed/,
  ],
  [
    'a network has two signatures',
    async () => {
      const signed = await baseSignature(api.world.anchors[0].text)
      listSigned(signed, signed)
    },
    /several signatures of this network/,
  ],
  [
    'the network of a signature is not part of the anchor',
    async () => {
      const signed = await baseSignature(api.world.anchors[0].text)
      listSigned(signed, { ...signed, network: 'alt-mainnet' })
    },
    /not part of the anchor/,
  ],
  [
    'an older day has a wrong signature',
    async () => {
      const [newest] = api.world.anchors
      const day = api.lies.dayIn(-1)
      const text = anchorText({ ...newest, day })
      api.world.anchors.push({ ...newest, day, text, signatures: [await baseSignature(newest.text)] })
    },
    /of another key, or over another text/,
  ],
]

test.each(SIGNATURE_LIES)('fails with 1 when %s', async (_, lie, reason) => {
  await lie()
  const { status, out } = await careful()
  expect(out.split('\n').filter((line) => line.startsWith('FAILED'))).toContainEqual(
    expect.stringMatching(reason),
  )
  expect(status).toBe(1)
})

test('fails with 1 when the API names another treasury of Base than the one that signed, and the user names none', async () => {
  Object.assign(api.world.solvency[0], { treasury: RICH })
  const { status, out } = await verify(api.url, [...both(), ...SOLANA])
  expect(out).toMatch(/^FAILED +signature .* signed by 0x\w+, not by the treasury 0xe1/m)
  expect(status).toBe(1)
})

test('is not proven and ends with 3 when the treasury of Base did not sign the newest anchor', async () => {
  listSigned()
  const { status, out } = await careful()
  expect(out).toMatch(
    /^warning +signature .* base-mainnet +not proven: the treasury has not signed the text of/m,
  )
  expect(out).toMatch(/^ok +treasury base-mainnet/m)
  expect(status).toBe(3)
})
