<?php
/**
 * Runs the plugin with the parts of WordPress and WooCommerce that it calls, and checks what it prints:
 *
 *     php examples/woocommerce/check.php
 */

ini_set('serialize_precision', '-1');
define('ABSPATH', __DIR__);
$actions = [];
$options = ['hoplog_short_url' => 'https://go.example.com/', 'hoplog_key' => " pk_live_1\n"];

function add_action(string $name, callable $run): void { $GLOBALS['actions'][$name] = $run; }
function get_option(string $name, string $default): string { return $GLOBALS['options'][$name] ?? $default; }
function register_setting(): void {}
function add_settings_field(string $id, string $label, callable $show): void { $show(); }
function esc_attr(string $text): string { return htmlspecialchars($text, ENT_QUOTES); }
function esc_url(string $url): string { return htmlspecialchars($url, ENT_QUOTES); }
function untrailingslashit(string $text): string { return rtrim($text, '/'); }
function wc_get_price_decimals(): int { return 2; }
function wp_json_encode($value, int $flags): string { return json_encode($value, $flags); }
function wc_get_order($id) { return $GLOBALS['orders'][$id] ?? false; }

final class Order
{
    /** @param array<string, mixed> $values */
    public function __construct(private array $values) {}
    /** @param string[] $statuses */
    public function has_status(array $statuses): bool { return in_array($this->values['status'], $statuses, true); }
    public function __call(string $name, array $arguments) { return $this->values[substr($name, 4)]; }
}

$paid = ['status' => 'processing', 'order_number' => 'A-1001', 'total' => '49.9000', 'currency' => 'EUR'];
$orders = [
    1 => new Order($paid + ['billing_email' => 'ada@example.com', 'customer_id' => 42]),
    2 => new Order(['total' => (string) (1.1 * 3), 'order_number' => '</script>'] + $paid + ['billing_email' => '', 'customer_id' => 0]),
    3 => new Order(['status' => 'failed'] + $paid + ['billing_email' => '', 'customer_id' => 0]),
];

require __DIR__ . '/hoplog.php';

function printed(string $action, ...$arguments): string
{
    ob_start();
    $GLOBALS['actions'][$action](...$arguments);
    return ob_get_clean();
}

function expect(string $what, $actual, $expected): void
{
    if ($actual !== $expected) {
        fwrite(STDERR, "$what\n  expected: " . var_export($expected, true) . "\n  printed:  " . var_export($actual, true) . "\n");
        exit(1);
    }
}

function order_in(string $html)
{
    expect('one script', preg_match("/^<script>\(window\.hoplog = window\.hoplog \|\| \[\]\)\.push\(\['order', (.*)\]\);<\/script>\n$/", $html, $found), 1);
    return json_decode($found[1], true);
}

$tag = "<script async src=\"https://go.example.com/pixel.js?key=pk_live_1\"></script>\n";
expect('the tag', printed('wp_head'), $tag);
$options['hoplog_key'] = 'lk_live_1';
expect('no secret key in a page', printed('wp_head'), '');
expect('an order', order_in(printed('woocommerce_thankyou', 1)), [
    'order_id' => 'A-1001', 'amount' => 49.9, 'currency' => 'EUR', 'email' => 'ada@example.com', 'external_user_id' => '42',
]);
expect('an order of a guest', order_in(printed('woocommerce_thankyou', 2)), [
    'order_id' => '</script>', 'amount' => 3.3, 'currency' => 'EUR',
]);
expect('no failed order', printed('woocommerce_thankyou', 3), '');
expect('no unknown order', printed('woocommerce_thankyou', 4), '');
expect('the settings', substr_count(printed('admin_init'), '<input'), 2);
echo "the plugin prints what it should\n";
