-- Payments that came to nothing are forgotten after a while: anybody can make as many as they like.
create index hires_over on hires (updated_at) where state in ('claimed', 'void') and reference is null;
-- Whose payments come to nothing on the chain.
create index hires_failed on hires (network, payer, updated_at) where state = 'void' and reference is not null;
