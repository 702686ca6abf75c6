-- confirm_subscription: confirms the address of the subscription $1.
UPDATE public.subscriptions
SET confirmed_at = now()
WHERE id = $1
