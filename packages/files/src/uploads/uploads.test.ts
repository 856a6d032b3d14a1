import { DAY, HOUR, later, MINUTE } from '@market/kernel/clock'
import type { UploadId } from '@market/kernel/ids'
import { s3Store } from '@market/platform/storage/s3'
import { walletActor } from '@market/testing/make-actor'
import { type MarketContext, marketContext } from '@market/testing/market-context'
import { testDatabase } from '@market/testing/postgres'
import { type S3Server, startS3Server } from '@market/testing/s3-server'
import { sql } from 'kysely'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { deleteUnusedUploads } from './delete-unused.ts'
import { fileUrl, signFileUrl } from './file-link.ts'
import { findFile } from './get-file.ts'
import { objectKey, storeUpload } from './store-upload.ts'
import type { FileOwner, Upload } from './upload.ts'
import { eraseReferences, findOwnUploads, useUploads } from './use-uploads.ts'

const OWNER: FileOwner = 'agent:agt_1'
const QUOTA = { files: 1_000, bytes: 1e9 }

let database: Awaited<ReturnType<typeof testDatabase>>
let s3: S3Server
let ctx: MarketContext
beforeAll(async () => {
  database = await testDatabase()
  s3 = await startS3Server()
})
afterAll(() => Promise.all([database.stop(), s3.stop()]))
beforeEach(async () => {
  await database.db.deleteFrom('uploads').execute()
  ctx = marketContext({ db: database.db, actor: walletActor(), objects: storage() })
})

const storage = () =>
  s3Store({
    endpoint: s3.settings.S3_ENDPOINT,
    region: 'us-east-1',
    bucket: s3.settings.S3_BUCKET,
    credentials: {
      accessKeyId: s3.settings.S3_ACCESS_KEY_ID,
      secretAccessKey: s3.settings.S3_SECRET_ACCESS_KEY,
    },
    timeoutFactor: 10,
  })

async function* parts(...texts: string[]) {
  for (const text of texts) yield Buffer.from(text)
}

const store = (text = 'a text', owner = OWNER): Promise<Upload> =>
  storeUpload(ctx, owner, { name: 'notes.txt', bytes: parts(text) }, QUOTA)

const use = (upload: Upload, isPrivate = false, usedFor: 'reference' | 'deliverable' = 'deliverable') =>
  ctx.transact((tx) => useUploads(ctx, tx, OWNER, [upload], { subject: 'ord_1', usedFor, isPrivate }))

const rowIds = async (): Promise<string[]> =>
  (await database.db.selectFrom('uploads').select('id').orderBy('id').execute()).map(({ id }) => id)

describe('storeUpload', () => {
  test('a sender that fails in the middle leaves no row and no object', async () => {
    async function* cut() {
      yield Buffer.alloc(6 * 1024 * 1024, 'x')
      throw new Error('the connection ended')
    }
    const before = s3.keys()
    const upload = storeUpload(ctx, OWNER, { name: 'a.txt', bytes: cut() }, QUOTA)
    await expect(upload).rejects.toThrow('the connection ended')
    expect([await rowIds(), s3.keys(), s3.openUploads()]).toEqual([[], before, 0])
  })

  test('text with an invalid character at its end is not stored', async () => {
    const bytes = parts('a'.repeat(5_000), '\xe6'.repeat(10))
    const upload = storeUpload(ctx, OWNER, { name: 'a.txt', bytes: latin1(bytes) }, QUOTA)
    await expect(upload).rejects.toMatchObject({ extra: { code: 'unsupported_file_type' } })
    expect(await rowIds()).toEqual([])
  })

  test('of concurrent uploads at the end of a quota exactly one is stored', async () => {
    const owner: FileOwner = 'agent:agt_busy'
    const upload = () => storeUpload(ctx, owner, { name: 'a.txt', bytes: parts('x') }, { files: 1, bytes: 9 })
    const results = await Promise.allSettled(Array.from({ length: 6 }, upload))
    expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
    expect(await rowIds()).toHaveLength(1)
  })
})

async function* latin1(bytes: AsyncIterable<Buffer>) {
  for await (const part of bytes) yield Buffer.from(part.toString(), 'latin1')
}

describe('useUploads', () => {
  test('another owner finds no upload by its id or its address', async () => {
    const upload = await store()
    for (const reference of [upload.id, fileUrl(ctx.filesUrl, upload)]) {
      expect((await findOwnUploads(ctx, OWNER, [reference])).get(reference)?.id).toBe(upload.id)
      const found = findOwnUploads(ctx, 'agent:agt_2', [reference])
      await expect(found).rejects.toMatchObject({ extra: { code: 'upload_not_found' } })
    }
    expect((await findOwnUploads(ctx, OWNER, ['https://elsewhere.example/upl_1/a'])).size).toBe(0)
  })

  test('a file is public or private by its first order', async () => {
    const [open, secret] = [await store(), await store()]
    await use(open, false)
    await use(open, false)
    await use(secret, true)
    for (const [upload, isPrivate] of [[open, true] as const, [secret, false] as const])
      await expect(use(upload, isPrivate)).rejects.toMatchObject({ extra: { code: 'upload_used_elsewhere' } })
  })

  test('a file that the sweep takes at the same moment is used or deleted, never both', async () => {
    const uploads = await Promise.all(Array.from({ length: 10 }, () => store()))
    ctx.clock.advance(DAY + MINUTE)
    const sweep = deleteUnusedUploads(ctx)
    const used = await Promise.allSettled(uploads.map((upload) => use(upload)))
    await sweep
    const kept = uploads.filter((_, n) => used[n]?.status === 'fulfilled').map(({ id }) => id)
    expect(await rowIds()).toEqual(kept.toSorted())
    for (const id of kept) expect(s3.keys()).toContain(objectKey(id as UploadId))
  })
})

describe('deleteUnusedUploads', () => {
  test('deletes what nothing refers to after a day, and leaves the rest', async () => {
    const [unused, used] = [await store(), await store()]
    await use(used)
    expect(await deleteUnusedUploads(ctx)).toBe(0)
    ctx.clock.advance(DAY + MINUTE)
    const young = await store()
    expect(await deleteUnusedUploads(ctx)).toBe(1)
    expect(await rowIds()).toEqual([used.id, young.id].toSorted())
    expect(s3.keys()).not.toContain(objectKey(unused.id))
    expect(s3.keys()).toContain(objectKey(used.id))
  })

  test('deletes all that is unused in one run', async () => {
    await sql`
      insert into uploads (id, owner, file_name, media_type, state, created_at)
      select 'upl_' || n, ${OWNER}, 'notes.txt', 'text/plain', 'pending', ${ctx.clock.now()}
      from generate_series(1, 2100) as n`.execute(database.db)
    ctx.clock.advance(DAY + MINUTE)
    expect(await deleteUnusedUploads(ctx)).toBe(2_100)
    expect(await rowIds()).toEqual([])
  })

  test('deletes the object and the row of an upload whose process ended', async () => {
    const upload = await store()
    // As it is between the object and the last transaction.
    await database.db
      .updateTable('uploads')
      .set({ state: 'pending', size_bytes: null, sha256: null })
      .execute()
    ctx.clock.advance(59 * MINUTE)
    expect(await deleteUnusedUploads(ctx)).toBe(0)
    ctx.clock.advance(2 * MINUTE)
    expect(await deleteUnusedUploads(ctx)).toBe(1)
    expect(await rowIds()).toEqual([])
    expect(s3.keys()).not.toContain(objectKey(upload.id))
  })

  test('continues after the storage was away: the file cannot be used meanwhile', async () => {
    const upload = await store()
    ctx.clock.advance(DAY + HOUR)
    await s3.kill()
    await expect(deleteUnusedUploads(ctx)).rejects.toMatchObject({ extra: { code: 'storage_unavailable' } })
    expect(await rowIds()).toEqual([upload.id])
    await expect(use(upload)).rejects.toMatchObject({ extra: { code: 'upload_not_found' } })
    await s3.restart()
    expect(await deleteUnusedUploads(ctx)).toBe(1)
    expect(s3.keys()).not.toContain(objectKey(upload.id))
  })

  test('deletes the references of an erased owner, and not what they delivered', async () => {
    const [reference, delivered] = [await store(), await store()]
    await use(reference, false, 'reference')
    await use(delivered, false, 'deliverable')
    await ctx.transact((tx) => eraseReferences(tx, [OWNER]))
    await deleteUnusedUploads(ctx)
    expect(await rowIds()).toEqual([delivered.id])
  })
})

describe('findFile', () => {
  const linkIn = (url: string) => {
    const { searchParams } = new URL(url)
    return { expires: Number(searchParams.get('expires')), signature: searchParams.get('signature') ?? '' }
  }
  const withOtherBit = (signature: string) => {
    const [first = 0, ...rest] = Buffer.from(signature, 'base64url')
    return Buffer.from([first ^ 1, ...rest]).toString('base64url')
  }

  test('a private file needs a link that we signed less than 15 minutes ago', async () => {
    const upload = await store()
    await use(upload, true)
    const { id, fileName } = upload
    const link = linkIn(signFileUrl(ctx, fileUrl(ctx.filesUrl, upload)))
    expect((await findFile(ctx, { id, fileName, link })).id).toBe(id)

    const notFound = { extra: { code: 'file_not_found' } }
    const other = await store()
    await use(other, true)
    await expect(findFile(ctx, { id, fileName })).rejects.toMatchObject(notFound)
    for (const altered of [
      { ...link, expires: link.expires + 60 },
      { ...link, signature: withOtherBit(link.signature) },
      { ...link, signature: '' },
      linkIn(signFileUrl(ctx, fileUrl(ctx.filesUrl, other))),
    ])
      await expect(findFile(ctx, { id, fileName, link: altered })).rejects.toMatchObject(notFound)

    ctx.clock.set(later(ctx.clock.now(), 15 * MINUTE))
    expect((await findFile(ctx, { id, fileName, link })).id).toBe(id)
    ctx.clock.advance(1_000)
    await expect(findFile(ctx, { id, fileName, link })).rejects.toMatchObject({
      kind: 'forbidden',
      extra: { code: 'file_link_expired' },
    })
  })
})
