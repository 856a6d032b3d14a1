import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { cleanFileName, FILE_TYPES, type MediaType, mediaTypeOf, textChecker } from './upload.ts'

const bytes = (...parts: (string | number[])[]): Uint8Array =>
  Buffer.concat(
    parts.map((part) => (typeof part === 'string' ? Buffer.from(part, 'latin1') : Buffer.from(part))),
  )

describe('mediaTypeOf', () => {
  test.each([
    ['image/jpeg', bytes([0xff, 0xd8, 0xff, 0xe0], '\0\x10JFIF')],
    [
      'image/png',
      bytes(
        [0x89],
        'PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x01\0\0\0\x01\x08\x06\0\0\0',
        [0x1f, 0x15, 0xc4, 0x89],
        '\0\0\0\0IDAT',
      ),
    ],
    ['image/webp', bytes('RIFF\x24\0\0\0WEBPVP8 ')],
    ['image/gif', bytes('GIF89a\x01\0\x01\0')],
    ['video/mp4', bytes('\0\0\0\x18ftypisom\0\0\x02\0isomiso2')],
    ['video/quicktime', bytes('\0\0\0\x14ftypqt  \0\0\x02\0qt  ')],
    ['application/pdf', bytes('%PDF-1.7\n')],
    ['application/zip', bytes('PK\x05\x06', Array(18).fill(0))],
  ] as const)('is %s by the bytes, whatever the name says', async (type, head) => {
    expect(await mediaTypeOf(head, 'x.txt')).toBe(type)
    expect(await mediaTypeOf(head, '')).toBe(type)
  })

  test.each(['txt', 'md', 'csv', 'json', 'py', 'TXT'])('is text for the extension %s', async (extension) => {
    expect(await mediaTypeOf(bytes('<script>alert(1)</script>'), `x.${extension}`)).toBe('text/plain')
  })

  test.each([
    ['a page', '<!doctype html>', 'x.html'],
    ['a page named as a picture', '<!doctype html>', 'x.png'],
    ['a drawing', '<svg xmlns="http://www.w3.org/2000/svg"/>', 'x.svg'],
    ['XML', '<?xml version="1.0"?><a/>', 'x.xml'],
    ['a program', '\x7fELF\x02\x01\x01', 'x'],
    ['a script without an extension', '#!/bin/sh\n', 'x'],
    ['a picture of another type', 'BM\x46\0\0\0', 'x.bmp'],
  ])('is undefined for %s', async (_what, text, name) => {
    expect(await mediaTypeOf(bytes(text), name)).toBeUndefined()
  })
})

describe('cleanFileName', () => {
  test.each([
    ['photo.PNG', 'image/png', 'photo.png'],
    ['../../etc/passwd', 'text/plain', 'passwd.txt'],
    ['C:\\Users\\me\\report.pdf', 'application/pdf', 'report.pdf'],
    ['evil.html', 'application/pdf', 'evil.html.pdf'],
    ['invoice\u202efdp.exe', 'application/pdf', 'invoicefdp.exe.pdf'],
    ['a\0b\r\nc.txt', 'text/plain', 'abc.txt'],
    ['"><script>.gif', 'image/gif', '___script_.gif'],
    ['.htaccess', 'text/plain', 'htaccess.txt'],
    ['', 'image/jpeg', 'file.jpg'],
    ['...', 'image/jpeg', 'file.jpg'],
    ['Größe 日本.jpeg', 'image/jpeg', 'Größe 日本.jpeg'],
  ] as const)('%j as %s becomes %j', (given, type, expected) => {
    expect(cleanFileName(given, type)).toBe(expected)
  })

  test('any name becomes a short base name with an extension of its type', () => {
    const types = Object.keys(FILE_TYPES) as MediaType[]
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 300 }), fc.constantFrom(...types), (given, type) => {
        const name = cleanFileName(given, type)
        expect(name).toMatch(/^[\p{L}\p{M}\p{N} ._()-]+$/u)
        expect([...name].length).toBeLessThanOrEqual(110)
        expect(name.startsWith('.')).toBe(false)
        expect(FILE_TYPES[type].extensions.some((extension) => name.endsWith(`.${extension}`))).toBe(true)
        expect(cleanFileName(name, type)).toBe(name)
      }),
    )
  })
})

describe('textChecker', () => {
  test('accepts UTF-8 however it is divided', () => {
    const text = Buffer.from('Größe 日本 😀\n')
    const checker = textChecker()
    for (const byte of text) expect(checker.accepts(Uint8Array.of(byte))).toBe(true)
    expect(checker.endsWell()).toBe(true)
  })

  test.each([
    ['NUL', [0x61, 0]],
    ['Latin-1', [0x47, 0x72, 0xf6, 0xdf, 0x65]],
    ['UTF-16', [0xff, 0xfe, 0x61, 0x00]],
    ['an overlong form', [0xc0, 0xaf]],
    ['a surrogate', [0xed, 0xa0, 0x80]],
  ])('rejects %s', (_what, part) => {
    expect(textChecker().accepts(Uint8Array.from(part))).toBe(false)
  })

  test('rejects an end within a character', () => {
    const checker = textChecker()
    expect(checker.accepts(Uint8Array.of(0xe6))).toBe(true)
    expect(checker.endsWell()).toBe(false)
  })
})
