import { expect, test } from 'vitest'
import { uploadSlots } from './upload-slots.ts'

const FILE = { receive: async () => ({ name: 'a.png', bytes: (async function* () {})() }) }
const FULL = { kind: 'unavailable', extra: { code: 'too_many_uploads' } }

type UploadSlots = ReturnType<typeof uploadSlots>

let addresses = 0
const someAddress = () => `192.0.2.${addresses++}`

async function take(slots: UploadSlots, name: string, address = someAddress(), hasPaidOrder = false) {
  const upload = slots(FILE, address)
  await upload.file.receive({ name, hasPaidOrder })
  return upload
}

/** How many uploads get a slot: one for each caller at the address. */
async function countTaken(slots: UploadSlots, at: readonly string[], hasPaidOrder = false): Promise<number> {
  const callers = at.map((address, n) => take(slots, `${address} ${n}`, address, hasPaidOrder))
  const results = await Promise.allSettled(callers)
  return results.filter(({ status }) => status === 'fulfilled').length
}

test('uploadSlots: a caller has at most 5 slots, and others still get one (asvs V5.2)', async () => {
  const slots = uploadSlots(10)
  const uploads = []
  for (let n = 0; n < 5; n++) uploads.push(await take(slots, 'agent:a'))
  await expect(take(slots, 'agent:a')).rejects.toMatchObject(FULL)
  await take(slots, 'agent:b')
  uploads[0]?.end()
  await take(slots, 'agent:a')
})

test('uploadSlots: all callers together have so many slots, and a rejected upload returns none', async () => {
  const slots = uploadSlots(2)
  const first = await take(slots, 'agent:a')
  await take(slots, 'agent:b')
  const rejected = slots(FILE, someAddress())
  await expect(rejected.file.receive({ name: 'agent:c', hasPaidOrder: false })).rejects.toMatchObject(FULL)
  rejected.end()
  await expect(take(slots, 'agent:c')).rejects.toMatchObject(FULL)
  first.end()
  first.end()
  await take(slots, 'agent:c')
  await expect(take(slots, 'agent:d')).rejects.toMatchObject(FULL)
})

test.each([
  ['an address', 10, () => '192.0.2.1'],
  ['a /64', 10, () => '2001:db8:1:1::/64'],
  ['a /56', 20, (n: number) => `2001:db8:1:${n.toString(16)}::/64`],
  ['a /48', 40, (n: number) => `2001:db8:1:${n.toString(16)}00::/64`],
])('uploadSlots: the callers of %s share %i of 100 slots, and others still get one', async (_, most, at) => {
  const slots = uploadSlots(100)
  expect(
    await countTaken(
      slots,
      Array.from({ length: 60 }, (_, n) => at(n)),
    ),
  ).toBe(most)
  expect(await countTaken(slots, ['2001:db8:2::/64', '192.0.2.2'])).toBe(2)
})

test('uploadSlots: a quarter is for callers with a paid order, also in a network whose slots are used', async () => {
  const slots = uploadSlots(100)
  const networks = Array.from({ length: 200 }, (_, n) => `2001:db8:${n.toString(16)}:0::/64`)
  expect(await countTaken(slots, networks)).toBe(75)
  expect(await countTaken(slots, networks, true)).toBe(25)
})
