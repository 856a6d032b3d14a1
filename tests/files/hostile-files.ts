import { deflateRawSync } from 'node:zlib'
import { BOUNDARY, FORM_END, PNG, partHead } from '../support/uploads.ts'

/** One hostile form, and what must happen to it: an error code, or the media type under which it is stored. */
export interface HostileForm {
  readonly what: string
  /** The body of the form. */
  readonly body: Buffer
  readonly contentType?: string
  readonly rejected?: string
  readonly storedAs?: { readonly mediaType: string; readonly name: string }
}

type Part = string | Buffer

const join = (...parts: readonly Part[]): Buffer =>
  Buffer.concat(parts.map((part) => (typeof part === 'string' ? Buffer.from(part) : part)))

const file = (name: string, content: Part, type?: string): Buffer =>
  join(partHead(name, type), content, FORM_END)

const refused = (what: string, body: Buffer, rejected: string, contentType?: string): HostileForm => ({
  what,
  body,
  rejected,
  ...(contentType !== undefined && { contentType }),
})

const stored = (what: string, body: Buffer, mediaType: string, name: string): HostileForm => ({
  what,
  body,
  storedAs: { mediaType, name },
})

/** Changes the title of a page that runs it; the test of the browser looks for it. */
export const SCRIPT = `document.title='ran';try{parent.postMessage('ran','*')}catch{};try{opener.postMessage('ran','*')}catch{}`
const PAGE = `<!doctype html><script>${SCRIPT}</script>`
const SVG = `<svg xmlns="http://www.w3.org/2000/svg" onload="${SCRIPT}"><script>${SCRIPT}</script></svg>`
const PDF = `%PDF-1.4\n1 0 obj<</Type/Catalog/OpenAction<</S/JavaScript/JS(app.alert(1))>>>>endobj\ntrailer<</Root 1 0 R>>\n%%EOF\n`
/** Valid as the beginning of a picture and as a script. */
const GIF_SCRIPT = `GIF89a=1;${SCRIPT}//`

/** A zip with one entry, whose content is many times larger than the file. */
function zipBomb(): Buffer {
  const content = deflateRawSync(Buffer.alloc(20 * 1024 * 1024), { level: 9 })
  const name = Buffer.from('zeros.bin')
  const head = Buffer.alloc(30)
  head.writeUInt32LE(0x04034b50, 0)
  head.writeUInt16LE(8, 8)
  head.writeUInt32LE(content.length, 18)
  head.writeUInt32LE(20 * 1024 * 1024, 22)
  head.writeUInt16LE(name.length, 26)
  return join(head, name, content)
}

const utf16 = Buffer.from(`\ufeff${PAGE}`, 'utf16le')

const REFUSED: readonly HostileForm[] = [
  refused('a drawing with a script', file('logo.svg', SVG, 'image/svg+xml'), 'unsupported_file_type'),
  refused('a drawing named as a picture', file('logo.png', SVG, 'image/png'), 'unsupported_file_type'),
  refused(
    'a compressed drawing',
    file('logo.svgz', join(Buffer.from([0x1f, 0x8b, 8, 0]), SVG)),
    'unsupported_file_type',
  ),
  refused('a page', file('page.html', PAGE, 'text/html'), 'unsupported_file_type'),
  refused('a page named as a picture', file('page.png', PAGE, 'image/png'), 'unsupported_file_type'),
  refused('a page named as a PDF', file('page.pdf', PAGE, 'application/pdf'), 'unsupported_file_type'),
  refused(
    'a page before the bytes of a PDF',
    file('page.pdf', PAGE.padEnd(2_000) + PDF),
    'unsupported_file_type',
  ),
  refused(
    'a page in XML',
    file('page.xhtml', `<?xml version="1.0"?><html xmlns="http://www.w3.org/1999/xhtml"/>`),
    'unsupported_file_type',
  ),
  refused('a script', file('script.js', SCRIPT, 'text/javascript'), 'unsupported_file_type'),
  refused('a program', file('setup.exe', 'MZ\x90\0\x03', 'image/png'), 'unsupported_file_type'),
  refused(
    'a program of Linux named as text',
    file('notes.txt', join('\x7fELF', Buffer.alloc(60))),
    'unsupported_file_type',
  ),
  refused('a Flash film', file('film.swf', 'CWS\x0a\0\0\0\0'), 'unsupported_file_type'),
  refused('a Windows picture', file('photo.bmp', join('BM', Buffer.alloc(60))), 'unsupported_file_type'),
  refused('a TIFF', file('photo.tiff', 'II*\0\x08\0\0\0'), 'unsupported_file_type'),
  refused('text in UTF-16', file('notes.txt', utf16, 'text/plain'), 'unsupported_file_type'),
  refused(
    'text in Latin-1',
    file('notes.txt', Buffer.from('Gr\xf6\xdfe', 'latin1')),
    'unsupported_file_type',
  ),
  refused('text with NUL', file('notes.csv', 'a,b\0c'), 'unsupported_file_type'),
  refused(
    'text with NUL after a megabyte',
    file('notes.csv', `${'a'.repeat(1_048_576)}\0`),
    'unsupported_file_type',
  ),
  refused(
    'text that ends within a character',
    file('notes.md', Buffer.from([0x61, 0xe2, 0x82])),
    'unsupported_file_type',
  ),
  refused('text without an extension', file('notes', 'text'), 'unsupported_file_type'),
  refused(
    'a name that ends with NUL before its extension',
    file('page.html\0.png', PAGE),
    'unsupported_file_type',
  ),
  refused('an empty file', file('empty.png', ''), 'empty_file'),
  refused('two files', join(partHead('a.txt'), 'a', '\r\n', file('b.txt', 'b')), 'bad_form'),
  refused(
    'a field before the file',
    join(
      `--${BOUNDARY}\r\nContent-Disposition: form-data; name="owner"\r\n\r\nagent:other\r\n`,
      file('a.txt', 'a'),
    ),
    'bad_form',
  ),
  refused(
    'a field after the file',
    join(
      partHead('a.txt'),
      'a',
      `\r\n--${BOUNDARY}\r\nContent-Disposition: form-data; name="owner"\r\n\r\nagent:other`,
      FORM_END,
    ),
    'bad_form',
  ),
  refused(
    'a file in another field',
    join(partHead('a.txt', 'text/plain', '__proto__'), 'a', FORM_END),
    'bad_form',
  ),
  refused('a form without an end', join(partHead('a.txt'), 'a'), 'bad_form'),
  refused(
    'a form that ends within its headers',
    Buffer.from(`--${BOUNDARY}\r\nContent-Disposition: form-da`),
    'bad_form',
  ),
  refused(
    'a form of another boundary',
    Buffer.from(file('a.txt', 'a').toString().replaceAll(BOUNDARY, 'other')),
    'bad_form',
  ),
  refused('a form without a boundary', file('a.txt', 'a'), 'bad_form', 'multipart/form-data'),
  refused(
    'a part without a name',
    join(`--${BOUNDARY}\r\nContent-Type: text/plain\r\n\r\n`, 'a', FORM_END),
    'file_missing',
  ),
  refused('a form with an empty body', Buffer.from(FORM_END.slice(2)), 'file_missing'),
  refused(
    'a huge header of a part',
    join(
      `--${BOUNDARY}\r\nX-Filler: ${'x'.repeat(500_000)}\r\n`,
      file('a.txt', 'a').subarray(BOUNDARY.length + 4),
    ),
    'file_missing',
  ),
]

const STORED: readonly HostileForm[] = [
  stored('a page named as text', file('page.html.txt', PAGE, 'text/html'), 'text/plain', 'page.html.txt'),
  stored('a drawing named as text', file('logo.svg.md', SVG, 'image/svg+xml'), 'text/plain', 'logo.svg.md'),
  stored('JSON that is a page', file('data.json', PAGE, 'text/html'), 'text/plain', 'data.json'),
  stored(
    'a picture that is a script',
    file('pixel.gif', GIF_SCRIPT, 'text/javascript'),
    'image/gif',
    'pixel.gif',
  ),
  stored(
    'a picture named as a page',
    file('pixel.html', join(PNG, PAGE), 'text/html'),
    'image/png',
    'pixel.html.png',
  ),
  stored(
    'a PDF that is a page, named as one',
    file('report.html', `%PDF-1.4\n${PAGE}`, 'text/html'),
    'application/pdf',
    'report.html.pdf',
  ),
  stored('a PDF with a script', file('report.pdf', PDF), 'application/pdf', 'report.pdf'),
  stored('a zip bomb', file('bomb.zip', zipBomb()), 'application/zip', 'bomb.zip'),
  stored('a path as a name', file('../../../etc/cron.d/job.txt', 'x'), 'text/plain', 'job.txt'),
  stored('a path of Windows as a name', file('..\\..\\autoexec.txt', 'x'), 'text/plain', 'autoexec.txt'),
  stored('a name that reads backwards', file('photo\u202egnp.txt', 'x'), 'text/plain', 'photognp.txt'),
  stored(
    'a name with quotes and markup',
    file('%22><img src=x>.txt', 'x'),
    'text/plain',
    '_22__img src_x_.txt',
  ),
  stored('a very long name', file(`${'n'.repeat(4_000)}.txt`, 'x'), 'text/plain', `${'n'.repeat(100)}.txt`),
  stored('a name that is only dots', file('..', join(PNG)), 'image/png', 'file.png'),
]

export const HOSTILE: readonly HostileForm[] = [...REFUSED, ...STORED]
