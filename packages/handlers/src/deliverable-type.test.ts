import { expect, test } from 'vitest'
import { typeOfUrl } from './deliverable-type.ts'

const URL_WITHOUT_EXTENSION = 'https://files.example/d/1?name=report.pdf'

test.each([
  ['image/png', 'image'],
  ['video/mp4', 'video'],
  ['application/pdf', 'document'],
  ['text/csv', 'document'],
  ['application/vnd.openxmlformats-officedocument.wordprocessingml.document', 'document'],
  ['text/x-python', 'code'],
  ['application/json', 'code'],
  ['text/plain', 'text'],
  ['text/markdown', 'text'],
  ['text/html', 'link'],
])('deliverable type: %s is %s', (mediaType, type) => {
  expect(typeOfUrl(URL_WITHOUT_EXTENSION, mediaType)).toBe(type)
})

test.each([
  ['https://files.example/a.PNG', 'image'],
  ['https://files.example/a.mov?x=1', 'video'],
  ['https://files.example/a.pdf#page=2', 'document'],
  ['https://files.example/a.ts', 'code'],
  ['https://files.example/a.md', 'text'],
  ['https://files.example/a', 'link'],
  [URL_WITHOUT_EXTENSION, 'link'],
])('deliverable type: %s without a media type is %s', (url, type) => {
  expect(typeOfUrl(url, undefined)).toBe(type)
})

test('deliverable type: the media type decides over the extension', () => {
  expect(typeOfUrl('https://files.example/a.png', 'application/pdf')).toBe('document')
})
