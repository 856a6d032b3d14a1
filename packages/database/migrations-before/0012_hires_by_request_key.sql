-- What a wallet bought under a word of its own: a program whose answer was lost asks again under the same word, and is
-- not charged twice. That two at once are not both sent is the business of the lock by which a wallet's payments wait
-- for each other, so that rows may share a word once a day is over.
create index hires_by_request_key on hires (network, payer, request_key)
  where binding = 'signed' and request_key is not null and state in ('sent', 'done');
