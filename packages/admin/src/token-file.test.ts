import { chmodSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { beforeEach, expect, test } from 'vitest'
import { deleteLogin, loadLogin, saveLogin } from './token-file.ts'

const LOGIN = {
  api_url: 'https://api.example',
  access_token: 'a.b.c',
  expires_at: '2026-03-02T12:00:00.000Z',
}

let path: string
beforeEach(() => {
  const folder = mkdtempSync(join(tmpdir(), 'admin-'))
  path = join(folder, 'agent-market', 'admin.json')
  return () => rmSync(folder, { recursive: true, force: true })
})

test('saveLogin: only the user can read the file, also when a readable one is replaced', async () => {
  await saveLogin(path, LOGIN)
  chmodSync(path, 0o644)
  await saveLogin(path, LOGIN)
  expect(statSync(path).mode & 0o777).toBe(0o600)
  expect(readdirSync(dirname(path))).toEqual(['admin.json'])
  expect(await loadLogin(path)).toEqual(LOGIN)
})

test('loadLogin: returns undefined without a login, and after deleteLogin', async () => {
  expect(await loadLogin(path)).toBeUndefined()
  await saveLogin(path, LOGIN)
  await deleteLogin(path)
  expect(await loadLogin(path)).toBeUndefined()
})

test('loadLogin: rejects a file that others can read, and one of another format', async () => {
  await saveLogin(path, LOGIN)
  chmodSync(path, 0o640)
  await expect(loadLogin(path)).rejects.toThrow(/chmod 600/)
  for (const text of ['no JSON', '{}', 'null']) {
    chmodSync(path, 0o600)
    writeFileSync(path, text)
    await expect(loadLogin(path)).rejects.toThrow(/Log in again/)
  }
})
