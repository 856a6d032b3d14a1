import { expect, test } from 'vitest'
import { uploadSlots } from './upload-slots.ts'

const FILE = { receive: async () => ({ name: 'a.png', bytes: (async function* () {})() }) }
const FULL = { kind: 'unavailable', extra: { code: 'too_many_uploads' } }

async function take(slots: ReturnType<typeof uploadSlots>, caller: string) {
  const upload = slots(FILE, () => caller)
  await upload.file.receive()
  return upload
}

test('uploadSlots: a caller has at most 5 slots, and others still get one', async () => {
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
  const rejected = slots(FILE, () => 'agent:c')
  await expect(rejected.file.receive()).rejects.toMatchObject(FULL)
  rejected.end()
  await expect(take(slots, 'agent:c')).rejects.toMatchObject(FULL)
  first.end()
  first.end()
  await take(slots, 'agent:c')
  await expect(take(slots, 'agent:d')).rejects.toMatchObject(FULL)
})
