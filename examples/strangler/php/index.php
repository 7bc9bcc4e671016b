<?php
// The old site: a front controller with a few pages.
$path = explode('?', $_SERVER['REQUEST_URI'], 2)[0];

switch ($path) {
    case '/account/login':
        setcookie('session', 'abc def', ['httponly' => true, 'path' => '/']);
        setcookie('theme', 'dark');
        header('Location: //' . $_SERVER['HTTP_HOST'] . '/account?from=login&to=%2Fnews', true, 303);
        break;
    case '/account/upload':
        $file = $_FILES['file'];
        sendJson(['name' => $file['name'], 'size' => $file['size'], 'error' => $file['error'],
            'sha256' => hash_file('sha256', $file['tmp_name']), 'fields' => $_POST]);
        break;
    case '/account/broken':
        throw new RuntimeException('The old site is broken');
    case '/account/slow':
        header('X-Accel-Buffering: no');
        foreach (['first', 'second', 'third'] as $line) {
            echo "$line\n";
            ob_flush();
            flush();
            usleep((int) ($_GET['us'] ?? 300000));
        }
        break;
    case '/account/late':
        sleep((int) $_GET['s']);
        echo 'late';
        break;
    case '/account/watched':
        // Writes until the client disconnects, then writes the result to the file `note`.
        ignore_user_abort(true);
        header('Content-Type: text/plain');
        for ($i = 0; $i < 500 && !connection_aborted(); $i++) {
            echo str_repeat('.', 1000);
            ob_flush();
            flush();
            usleep(10000);
        }
        file_put_contents($_GET['note'], connection_aborted() ? 'aborted' : 'finished');
        break;
    case '/account/nothing':
        http_response_code(204);
        break;
    case '/account/unchanged':
        header('ETag: "1"');
        http_response_code(304);
        break;
    case '/account/missing':
        http_response_code(404);
        header('Content-Type: text/html; charset=ISO-8859-1');
        echo "<h1>Seite nicht gefunden: sch\xf6n</h1>";
        break;
    default:
        sendJson([
            'answeredBy' => 'PHP',
            'method' => $_SERVER['REQUEST_METHOD'],
            'target' => bin2hex($_SERVER['REQUEST_URI']),
            'headers' => getallheaders(),
            'variables' => array_filter($_SERVER, fn ($name) => str_starts_with($name, 'HTTP_'), ARRAY_FILTER_USE_KEY),
            'form' => $_POST,
            'cookies' => $_COOKIE,
            'body' => base64_encode(file_get_contents('php://input')),
        ]);
}

function sendJson(array $data): void
{
    header('Content-Type: application/json');
    echo json_encode($data, JSON_INVALID_UTF8_SUBSTITUTE);
}
